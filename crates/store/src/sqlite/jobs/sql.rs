//! The statements of this job, named like their files.

statements!(job, job_claim, job_create, job_progress, job_stop, jobs_of,);
