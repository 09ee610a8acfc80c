import { EMAIL_PROVIDERS, SMS_PROVIDERS } from '../delivery/providers.ts';
import * as parse from './parsers.ts';
import * as secrets from './secret-parsers.ts';
import { endpoint, plain, secret } from './setting.ts';
import * as url from './url-parsers.ts';

/** How codes reach people. */
export const DELIVERY_SETTINGS = {
  EMAIL_PROVIDER: plain(
    'how codes are mailed; log prints them, none switches mail off',
    parse.oneOf(...EMAIL_PROVIDERS.map(({ name }) => name)),
    'log',
    { example: 'smtp' },
  ),
  EMAIL_FROM: plain('sender of the mails, `Name <address>` or an address', parse.unsetOr(parse.mailbox), undefined, {
    example: 'Example <no-reply@example.com>',
  }),
  SMTP_URL: secret('mail server, smtp://user:password@host:587 or smtps://…', parse.unsetOr(url.smtpUrl), undefined, {
    example: 'smtp://user:password@mail.example.com:587',
  }),
  DKIM_PRIVATE_KEY: secret(
    'RSA key in PEM that signs mails over SMTP for the domain of EMAIL_FROM (DKIM)',
    parse.unsetOr(secrets.pemKey),
  ),
  DKIM_SELECTOR: plain(
    'name of the DKIM key: its public half is at <selector>._domainkey.<domain>',
    parse.matching(/^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/i, 'must be a DKIM selector such as vault2026'),
    'vault',
    { needs: 'DKIM_PRIVATE_KEY' },
  ),
  RESEND_API_KEY: secret('key of the Resend API', parse.unsetOr(secrets.token(1))),
  RESEND_API_URL: endpoint('base URL of the Resend API', url.httpUrl, 'https://api.resend.com'),
  EMAIL_HOOK_URL: endpoint(
    'URL of your server that mails are posted to, signed, where EMAIL_PROVIDER is hook',
    parse.unsetOr(url.ownOrHttpsUrl),
    undefined,
    { example: 'https://app.example.com/hooks/mail' },
  ),
  EMAIL_HOOK_SECRET: secret(
    'keys that sign them (Standard Webhooks: whsec_ and base64), separated by commas, the current one first',
    parse.unsetOr(secrets.webhookSecrets(secrets.WEBHOOK_SECRETS_MAX)),
    undefined,
    { remedy: secrets.WEBHOOK_SECRET_REMEDY },
  ),
  SMS_PROVIDER: plain(
    'how codes are sent to phones; log prints them, none switches SMS off',
    parse.oneOf(...SMS_PROVIDERS.map(({ name }) => name)),
    'log',
    { example: 'twilio' },
  ),
  TWILIO_ACCOUNT_SID: plain('Twilio account', parse.unsetOr(parse.sid('AC')), undefined, {
    example: `AC${'0'.repeat(32)}`,
  }),
  TWILIO_AUTH_TOKEN: secret('token of the Twilio account', parse.unsetOr(secrets.token(1))),
  TWILIO_VERIFY_SERVICE_SID: plain('Twilio Verify v2 service', parse.unsetOr(parse.sid('VA')), undefined, {
    example: `VA${'0'.repeat(32)}`,
  }),
  TWILIO_VERIFY_SERVICE_SID_RECOVERY: plain(
    'another Verify service, for codes of recoveries; without it numbers get none by Twilio Verify',
    parse.unsetOr(parse.sid('VA')),
    undefined,
    { example: `VA${'0'.repeat(31)}1`, needs: 'TWILIO_VERIFY_SERVICE_SID' },
  ),
  TWILIO_VERIFY_SERVICE_SID_CREDENTIAL: plain(
    'a third one, for codes that show a number elsewhere; without it numbers get none by Twilio Verify',
    parse.unsetOr(parse.sid('VA')),
    undefined,
    { example: `VA${'0'.repeat(31)}2`, needs: 'TWILIO_VERIFY_SERVICE_SID' },
  ),
  TWILIO_API_URL: endpoint('base URL of the Twilio Verify API', url.httpUrl, 'https://verify.twilio.com'),
  SMS_HOOK_URL: endpoint(
    'URL of your server that text messages are posted to, signed, where SMS_PROVIDER is hook',
    parse.unsetOr(url.ownOrHttpsUrl),
    undefined,
    { example: 'https://app.example.com/hooks/sms' },
  ),
  SMS_HOOK_SECRET: secret(
    'keys that sign them (Standard Webhooks: whsec_ and base64), separated by commas, the current one first',
    parse.unsetOr(secrets.webhookSecrets(secrets.WEBHOOK_SECRETS_MAX)),
    undefined,
    { remedy: secrets.WEBHOOK_SECRET_REMEDY },
  ),
  ALLOW_LOG_DELIVERY: plain('allows printed codes on a public host', parse.boolean, 'false'),
};
