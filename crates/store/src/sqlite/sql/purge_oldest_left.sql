select min(at) from outcome
