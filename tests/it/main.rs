mod broken_scenarios;
