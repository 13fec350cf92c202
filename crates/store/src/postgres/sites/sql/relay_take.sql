-- $1 node. Each question is given out once: asking a site twice would act twice.
update site_relays set taken = true where node = $1::text and not taken returning relay, tenant, site, question
