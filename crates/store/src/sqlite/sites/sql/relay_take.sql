-- Each question is given out once: asking a site twice would act twice.
update site_relays set taken = 1 where node = ?1 and not taken returning relay, tenant, site, question
