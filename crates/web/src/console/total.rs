//! How many notifications a view has, in words. Told by what costs least: the page itself, the figures, a bounded count.

use super::{
    filter::{ListQuery, Times},
    show::number,
};
use domain::{Status, TextFilters, kpi::Kpis};
use store::query::{Counted, SCAN_BOUND};

/// Where the first page is all there is, or all that could be found within the bound.
pub fn of_first_page(rows: usize, goes_on: bool, bounded: bool) -> Option<Counted> {
    match (goes_on, bounded) {
        (false, _) => Some(Counted::Exactly(rows as u64)),
        (true, true) => Some(Counted::AmongNewest(rows as u64)),
        (true, false) => None,
    }
}

/// "1,204 parked" where the figures have it.
pub fn in_figures(asked: &ListQuery, sites: &[(String, Kpis)]) -> Option<String> {
    let only_status = ListQuery {
        status: asked.status.clone(),
        stuck: asked.stuck,
        times: Times {
            zone: asked.times.zone.clone(),
            ..Times::default()
        },
        by: TextFilters {
            site: asked.by.site.clone(),
            ..TextFilters::default()
        },
        ..ListQuery::default()
    };
    if only_status != *asked {
        return None;
    }
    let here = sites
        .iter()
        .filter(|(name, _)| asked.by.site.as_ref().is_none_or(|site| site == name));
    let sum = |figure: fn(&Kpis) -> u64| number(here.clone().map(|(_, kpis)| figure(kpis)).sum::<u64>());
    match (asked.stuck, asked.status.as_slice()) {
        (true, []) => Some(format!("{} stuck", sum(|kpis| kpis.stuck_count))),
        (false, [Status::Parked]) => Some(format!("{} parked", sum(|kpis| kpis.parked_count))),
        (false, [Status::Pending, Status::Retrying] | [Status::Retrying, Status::Pending]) => {
            Some(format!("{} waiting", sum(|kpis| kpis.queue_depth)))
        }
        _ => None,
    }
}

pub fn in_words(counted: Counted) -> String {
    match counted {
        Counted::Exactly(all) => format!("{} in all", number(all)),
        Counted::MoreThan(bound) => format!("more than {}", number(bound)),
        Counted::AmongNewest(found) => {
            format!(
                "{} among the newest {}",
                number(found),
                number(u64::from(SCAN_BOUND))
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(status: &[Status], stuck: bool, site: Option<&str>) -> ListQuery {
        ListQuery {
            status: status.to_vec(),
            stuck,
            by: TextFilters {
                site: site.map(str::to_owned),
                ..TextFilters::default()
            },
            ..ListQuery::default()
        }
    }

    #[test]
    fn figures_tell_how_many_are_parked_waiting_and_stuck_and_nothing_else() {
        let figures = |parked_count, queue_depth, stuck_count| Kpis {
            parked_count,
            queue_depth,
            stuck_count,
            ..Kpis::default()
        };
        let sites = [
            (String::new(), figures(1_000, 20, 3)),
            ("plant-2".to_owned(), figures(204, 5, 1)),
        ];
        let (waiting, parked) = ([Status::Retrying, Status::Pending], [Status::Parked]);
        for (asked, words) in [
            (asking(&parked, false, None), Some("1,204 parked")),
            (asking(&parked, false, Some("plant-2")), Some("204 parked")),
            (asking(&waiting, false, None), Some("25 waiting")),
            (asking(&[], true, None), Some("4 stuck")),
            (asking(&[], false, None), None),
            (asking(&parked, true, None), None),
            (asking(&[Status::Pending], false, None), None),
            (
                ListQuery {
                    q: Some("pump".into()),
                    ..asking(&parked, false, None)
                },
                None,
            ),
        ] {
            assert_eq!(in_figures(&asked, &sites).as_deref(), words, "{asked:?}");
        }
    }

    #[test]
    fn words_claim_no_more_than_was_counted() {
        assert_eq!(in_words(Counted::Exactly(1_204)), "1,204 in all");
        assert_eq!(in_words(Counted::MoreThan(10_000)), "more than 10,000");
        assert_eq!(in_words(Counted::AmongNewest(312)), "312 among the newest 10,000");
    }
}
