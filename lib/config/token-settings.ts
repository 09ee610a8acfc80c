import { boolean } from './parsers.ts';
import { endpoint, plain } from './setting.ts';
import { httpUrl } from './url-parsers.ts';

/** Email addresses that browsers show by a token. */
export const TOKEN_SETTINGS = {
  EMAIL_TOKENS: plain(
    'takes tokens by which a browser shows an email address without a code (Email Verification Protocol, a draft)',
    boolean,
    'false',
  ),
  EMAIL_TOKENS_RESOLVER: endpoint(
    'DNS over HTTPS, answering in JSON, that names the issuers of mail domains; a public address',
    httpUrl,
    'https://dns.google/resolve',
    { needs: 'EMAIL_TOKENS' },
  ),
};
