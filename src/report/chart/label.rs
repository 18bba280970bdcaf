//! Labels that would overlap, moved apart as little as needed.

/// Places for labels that want to be at `wanted`, at least `gap` apart and between `low` and `high` as far as they fit, in the same order.
///
/// Neighbours that are too close form a block around the middle of what they want; blocks that touch become one.
pub fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]).then(a.cmp(b)));
    let mut blocks: Vec<(f64, Vec<usize>)> = Vec::new();
    for index in order {
        blocks.push((wanted[index].clamp(low, high.max(low)), vec![index]));
        while let [.., (above, first), (below, second)] = blocks.as_slice() {
            let touching = (first.len() + second.len()) as f64 / 2.0 * gap;
            if below - above >= touching {
                break;
            }
            let (mut members, more) = (first.clone(), second.clone());
            members.extend(more);
            let middle = members.iter().map(|member| wanted[*member]).sum::<f64>() / members.len() as f64;
            let half = (members.len() as f64 - 1.0) / 2.0 * gap;
            // A block that is higher than the panel starts at its top and hangs out below.
            let middle = middle.min(high - half).max(low + half);
            blocks.truncate(blocks.len() - 2);
            blocks.push((middle, members));
        }
    }
    let mut places = vec![0.0; wanted.len()];
    for (middle, members) in blocks {
        for (index, member) in members.iter().enumerate() {
            places[*member] = middle + (index as f64 - (members.len() as f64 - 1.0) / 2.0) * gap;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_with_room_stay_where_they_want_to_be() {
        assert_eq!(spread(&[50.0, 10.0, 90.0], 16.0, 0.0, 100.0), [50.0, 10.0, 90.0]);
        assert!(spread(&[], 16.0, 0.0, 100.0).is_empty());
    }

    #[test]
    fn labels_on_one_spot_are_moved_apart_and_stay_inside() {
        for wanted in [vec![0.0; 5], vec![100.0; 5], vec![48.0, 50.0, 52.0, 51.0], vec![99.0, 97.0, 80.0, 3.0, 1.0]] {
            let mut places = spread(&wanted, 16.0, 0.0, 100.0);
            assert!(places.iter().all(|place| (-1e-9..=100.0 + 1e-9).contains(place)), "{wanted:?} {places:?}");
            places.sort_by(f64::total_cmp);
            assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 16.0 - 1e-9), "{wanted:?} {places:?}");
        }
    }
}
