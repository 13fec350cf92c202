select min(at) as at from outcome
