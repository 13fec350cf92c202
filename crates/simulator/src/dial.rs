//! The dial: rules that decide what a far end does instead of behaving well.

use std::{
    fmt,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// One fault: where it strikes, how often, and what happens then. The first rule that applies decides.
pub struct Rule<At, Answer> {
    when: Vec<Predicate<At>>,
    skip: u32,
    left: Option<u32>,
    chance: f64,
    delay: Duration,
    answer: Answer,
}

type Predicate<At> = Box<dyn Fn(&At) -> bool + Send + Sync>;

impl<At, Answer> Rule<At, Answer> {
    /// Strikes every time, until it is narrowed down.
    pub fn always(answer: Answer) -> Self {
        Self {
            when: vec![],
            skip: 0,
            left: None,
            chance: 1.0,
            delay: Duration::ZERO,
            answer,
        }
    }

    /// Only where this holds.
    pub fn when(mut self, applies: impl Fn(&At) -> bool + Send + Sync + 'static) -> Self {
        self.when.push(Box::new(applies));
        self
    }

    /// Only so many times.
    pub fn times(mut self, n: u32) -> Self {
        self.left = Some(n);
        self
    }

    /// Lets the first `n` matching occasions pass.
    pub fn after(mut self, n: u32) -> Self {
        self.skip = n;
        self
    }

    /// Only with this probability, from 0 to 1.
    pub fn chance(mut self, probability: f64) -> Self {
        self.chance = probability;
        self
    }

    /// Waits this long before it answers.
    pub fn delayed(mut self, by: Duration) -> Self {
        self.delay = by;
        self
    }

    pub(crate) fn answering(mut self, answer: Answer) -> Self {
        self.answer = answer;
        self
    }

    pub(crate) fn answer_mut(&mut self) -> &mut Answer {
        &mut self.answer
    }

    fn strikes(&mut self, at: &At) -> bool {
        if self.left == Some(0) || !self.when.iter().all(|applies| applies(at)) {
            return false;
        }
        if self.chance < 1.0 && rand::random::<f64>() >= self.chance {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
        true
    }
}

impl<At, Answer: fmt::Debug> fmt::Debug for Rule<At, Answer> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule")
            .field("skip", &self.skip)
            .field("left", &self.left)
            .field("chance", &self.chance)
            .field("delay", &self.delay)
            .field("answer", &self.answer)
            .finish_non_exhaustive()
    }
}

/// The rules in force, changeable while the far end runs.
#[derive(Debug)]
pub struct Dial<At, Answer> {
    rules: Mutex<Vec<Rule<At, Answer>>>,
    /// So that a well-behaved far end takes no lock per command.
    set: AtomicBool,
}

impl<At, Answer> Default for Dial<At, Answer> {
    fn default() -> Self {
        Self {
            rules: Mutex::default(),
            set: AtomicBool::new(false),
        }
    }
}

impl<At, Answer: Clone> Dial<At, Answer> {
    /// Adds a rule after the ones in force.
    pub fn add(&self, rule: Rule<At, Answer>) {
        self.rules().push(rule);
        self.set.store(true, Ordering::Release);
    }

    /// Back to good behaviour.
    pub fn clear(&self) {
        self.rules().clear();
        self.set.store(false, Ordering::Release);
    }

    /// What to do here: how long to wait, and the answer. `None` means good behaviour.
    pub fn decide(&self, at: impl FnOnce() -> At) -> Option<(Duration, Answer)> {
        if !self.set.load(Ordering::Acquire) {
            return None;
        }
        let at = at();
        self.rules()
            .iter_mut()
            .find_map(|rule| rule.strikes(&at).then(|| (rule.delay, rule.answer.clone())))
    }

    fn rules(&self) -> MutexGuard<'_, Vec<Rule<At, Answer>>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_applies_decides_as_often_as_it_may() {
        let dial = Dial::<u32, &str>::default();
        assert_eq!(dial.decide(|| 1), None);
        dial.add(Rule::always("odd").when(|n| n % 2 == 1).after(1).times(2));
        dial.add(
            Rule::always("big")
                .when(|n| *n > 8)
                .delayed(Duration::from_secs(1)),
        );
        let answers: Vec<_> = [1, 1, 2, 3, 9]
            .map(|n| dial.decide(|| n).map(|(_, a)| a))
            .to_vec();
        assert_eq!(answers, [None, Some("odd"), None, Some("odd"), Some("big")]);
        dial.clear();
        assert_eq!(dial.decide(|| 9), None);
    }
}
