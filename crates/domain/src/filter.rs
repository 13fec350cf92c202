//! The filters of a list of notifications that ask for one text, each declared once.
//!
//! Everything follows from [`TextFilter::ALL`]: the API's parameters and bulk requests, the client, the flags and
//! `key=value` pairs of the command line, the console's form and chips, a bulk action's row. What is left to write is
//! the clause in `list_match.sql` of each database, whose last parameters are these, in this order.

/// One filter, as everybody knows it.
#[derive(Debug, Clone, Copy)]
pub struct TextFilter {
    /// In addresses, in JSON and in `--filter name=value`.
    pub name: &'static str,
    /// On the command line.
    pub flag: &'static str,
    /// On the console.
    pub label: &'static str,
    /// For whoever wonders what it does.
    pub help: &'static str,
    /// Whether a bulk action may go by it.
    pub bulk: bool,
    of: fn(&TextFilters) -> &Option<String>,
    of_mut: fn(&mut TextFilters) -> &mut Option<String>,
}

macro_rules! text_filters {
    ($($field:ident = $name:literal, $flag:literal, $label:literal, bulk: $bulk:literal, $help:literal;)*) => {
        /// What each of them is to be equal to. What is left out does not matter.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct TextFilters {
            $(#[doc = $help] pub $field: Option<String>,)*
        }

        impl TextFilter {
            pub const ALL: &[TextFilter] = &[$(TextFilter {
                name: $name,
                flag: $flag,
                label: $label,
                help: $help,
                bulk: $bulk,
                of: |filters| &filters.$field,
                of_mut: |filters| &mut filters.$field,
            }),*];
        }
    };
}

text_filters! {
    site = "site", "site", "Site", bulk: true, "Only from this site";
    list = "list", "list", "List", bulk: true, "Only to this list";
    provider = "provider", "provider", "Provider", bulk: true, "Only those that this provider has, or had last";
    entity_type = "entityType", "entity-type", "Entity type", bulk: true, "Only about this sort of thing";
    entity_id = "entityId", "entity-id", "Entity", bulk: true, "Only about this one";
    error_code = "errorCode", "error-code", "Error code", bulk: true,
        "Only with this code of the last failure, like RECIPIENT, or the far end's own, like SMTP_550_5.1.1";
    receipt = "receipt", "receipt", "Receipt", bulk: false, "Only with this word from the provider afterwards";
    execution_id = "executionId", "execution-id", "Execution", bulk: false, "Only sent by this run of a script";
}

impl TextFilter {
    /// By its name, or as the command line spells it.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|one| one.name == name || one.flag == name)
    }

    /// Those that a bulk action may go by.
    pub fn in_bulk() -> impl Iterator<Item = &'static Self> {
        Self::ALL.iter().filter(|one| one.bulk)
    }
}

impl TextFilters {
    /// Asks for each by its name.
    pub fn read(mut ask: impl FnMut(&'static str) -> Option<String>) -> Self {
        let mut read = Self::default();
        for one in TextFilter::ALL {
            read.set(one, ask(one.name));
        }
        read
    }

    /// The same for those that a bulk action may go by.
    pub fn read_bulk(mut ask: impl FnMut(&'static str) -> Option<String>) -> Self {
        let mut read = Self::default();
        for one in TextFilter::in_bulk() {
            read.set(one, ask(one.name));
        }
        read
    }

    pub fn get(&self, one: &TextFilter) -> &Option<String> {
        (one.of)(self)
    }

    pub fn set(&mut self, one: &TextFilter, text: Option<String>) {
        *(one.of_mut)(self) = text;
    }

    /// Those that ask for something.
    pub fn given(&self) -> impl Iterator<Item = (&'static TextFilter, &str)> {
        let asked = |one: &'static TextFilter| Some((one, self.get(one).as_deref()?));
        TextFilter::ALL.iter().filter_map(asked)
    }
}

/// The most words that are looked for at once.
pub const MAX_WORDS: usize = 16;

/// What is wrong with the words of a search; each of them has to be found.
pub fn problem_of_words(text: &str) -> Option<String> {
    match text.split_whitespace().count() {
        0 => Some("must have a word to look for; leave it out to match everything".into()),
        n if n > MAX_WORDS => Some(format!("must have at most {MAX_WORDS} words, these are {n}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_has_its_own_name_flag_and_place() {
        let all = TextFilters::read(|name| Some(name.to_owned()));
        for one in TextFilter::ALL {
            assert_eq!(all.get(one).as_deref(), Some(one.name));
            let flag: String = one.name.chars().fold(String::new(), |flag, c| match c {
                'A'..='Z' => flag + "-" + &c.to_lowercase().to_string(),
                c => flag + &c.to_string(),
            });
            assert_eq!(flag, one.flag);
            assert_eq!(
                TextFilter::named(one.flag).map(|found| found.name),
                Some(one.name)
            );
        }
        assert_eq!(all.given().count(), TextFilter::ALL.len());
        let bulk = TextFilters::read_bulk(|name| Some(name.to_owned()));
        assert!(bulk.receipt.is_none() && bulk.site.is_some());
    }

    #[test]
    fn a_search_has_a_word_and_no_more_than_are_looked_for() {
        assert!(
            problem_of_words("pump full").is_none() && problem_of_words(&"w ".repeat(MAX_WORDS)).is_none()
        );
        assert!(problem_of_words(" \t").is_some_and(|why| why.contains("a word")));
        assert!(problem_of_words(&"w ".repeat(MAX_WORDS + 1)).is_some_and(|why| why.contains("17")));
    }
}
