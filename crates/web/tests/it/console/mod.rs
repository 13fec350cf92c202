//! The console's promises that need no browser: who gets in, who may what, what forms must carry, what pages may
//! hold.

mod charts;
mod doors;
mod download;
mod events;
mod filters;
mod forms;
mod jobs;
mod links;
mod lists;
mod openid;
mod overview;
mod pages;
mod provider_forms;
mod repeats;
mod sign_in;
mod site_files;
mod sites;
mod templates;
mod totals;
pub mod visitor;
