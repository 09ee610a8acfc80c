import * as parse from './parsers.ts';
import { plain } from './setting.ts';

/** Settings for admission. They never apply to people who are registered. */
export const ADMISSION_SETTINGS = {
  REGISTRATION: plain(
    'who may register: anybody (open), people with an invite (invite), nobody new (closed)',
    parse.oneOf('open', 'invite', 'closed'),
    'open',
  ),
  ALLOWED_MAIL_DOMAINS: plain(
    'mail domains whose addresses may be registered (example.com,*.example.com); all when empty',
    parse.domains,
    '',
  ),
  REFUSED_MAIL_DOMAINS_FILE: plain(
    'file of mail domains whose addresses cannot be registered, nor those below them: one a line',
    parse.unsetOr(parse.anyText),
  ),
};
