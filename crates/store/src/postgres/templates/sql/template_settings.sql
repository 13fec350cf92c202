select settings from template_settings where tenant = $1::integer
