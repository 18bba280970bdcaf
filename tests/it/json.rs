//! As much JSON as the reference data and the program's output need.

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Boolean(bool),
    /// As it is written: no digit is lost.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The value of a whole text.
    pub fn parse(text: &str) -> Json {
        let mut reader = Reader { rest: text };
        let value = reader.value();
        assert_eq!(reader.rest.trim(), "", "something follows the value");
        value
    }

    /// A key of an object; null where it has none.
    pub fn get(&self, key: &str) -> &Json {
        match self {
            Json::Object(pairs) => pairs.iter().find(|(name, _)| name == key).map_or(&Json::Null, |(_, value)| value),
            other => panic!("{other:?} has no key {key}"),
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Json::Text(text) | Json::Number(text) => text,
            other => panic!("{other:?} is no text"),
        }
    }

    pub fn number(&self) -> f64 {
        self.text().parse().unwrap()
    }

    pub fn list(&self) -> &[Json] {
        match self {
            Json::List(values) => values,
            other => panic!("{other:?} is no list"),
        }
    }

    pub fn is_null(&self) -> bool {
        *self == Json::Null
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        let found = rest.strip_prefix(token);
        self.rest = found.unwrap_or(rest);
        found.is_some()
    }

    fn value(&mut self) -> Json {
        for (word, value) in [("null", Json::Null), ("true", Json::Boolean(true)), ("false", Json::Boolean(false))] {
            if self.take(word) {
                return value;
            }
        }
        if self.take("[") {
            let mut values = Vec::new();
            while !self.take("]") {
                values.push(self.value());
                self.take(",");
            }
            return Json::List(values);
        }
        if self.take("{") {
            let mut pairs = Vec::new();
            while !self.take("}") {
                let Json::Text(key) = self.value() else { panic!("a key is a text: {:.40}", self.rest) };
                assert!(self.take(":"), "{:.40}", self.rest);
                pairs.push((key, self.value()));
                self.take(",");
            }
            return Json::Object(pairs);
        }
        if self.take("\"") { Json::Text(self.quoted()) } else { self.bare() }
    }

    fn quoted(&mut self) -> String {
        let mut text = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((place, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &self.rest[place + 1..];
                    return text;
                }
                '\\' => match letters.next().expect("an escape").1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'u' => {
                        let digits: String = letters.by_ref().take(4).map(|(_, digit)| digit).collect();
                        text.push(char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap_or('?'));
                    }
                    other => text.push(other),
                },
                other => text.push(other),
            }
        }
        panic!("a text without an end");
    }

    fn bare(&mut self) -> Json {
        let end = self.rest.find(|letter: char| ",]} \n".contains(letter)).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        assert!(number.parse::<f64>().is_ok(), "`{number}` is no value");
        self.rest = rest;
        Json::Number(number.to_owned())
    }
}
