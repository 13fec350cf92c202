insert into lanes (tenant, provider, channel) values (?1, ?2, ?3) returning lane_id
