import { expect, test } from 'bun:test';
import { readConfig } from '../../../lib/config/config.ts';
import { findContradictions } from '../../../lib/config/contradictions.ts';

const SECRET = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';
const OTHER = '102132435465768798a9bacbdcedfe0f102132435465768798a9bacbdcedfe0f';

function found(vars: Record<string, string>) {
  const config = readConfig({ VAULT_SECRET: SECRET, OPERATOR_SECRET: OTHER, ...vars });
  return findContradictions(config, (name) => vars[name] !== undefined);
}

const SMTP = { SMTP_URL: 'smtp://mail.example.com', EMAIL_FROM: 'a@example.com' };
const HOSTED = { BASE_URL: 'https://vault.example.com', HOST: '0.0.0.0', ALLOW_LOG_DELIVERY: 'true' };

test.each<[string, Record<string, string>, string[]]>([
  ['a mail server that no mail goes to', SMTP, ['SMTP_URL', 'EMAIL_FROM']],
  ['keys of another provider of mail', { ...SMTP, EMAIL_PROVIDER: 'smtp', RESEND_API_KEY: 'x' }, ['RESEND_API_KEY']],
  [
    'a mail server beside a hook, which reads the sender',
    {
      ...SMTP,
      EMAIL_PROVIDER: 'hook',
      EMAIL_HOOK_URL: 'http://127.0.0.1:3000',
      EMAIL_HOOK_SECRET: `whsec_${btoa('x'.repeat(32))}`,
    },
    ['SMTP_URL'],
  ],
  [
    'an account of a provider of SMS that is not chosen',
    { TWILIO_ACCOUNT_SID: 'AC1', TWILIO_AUTH_TOKEN: 'x' },
    ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN'],
  ],
  ['a header that nobody is trusted with', { ...HOSTED, CLIENT_IP_HEADER: 'X-Real-IP' }, ['CLIENT_IP_HEADER']],
  ['a host that others reach under no name', { HOST: '0.0.0.0', ALLOW_LOG_DELIVERY: 'true' }, ['HOST']],
  ['passkeys of another host', { RP_IDS: 'example.org' }, ['RP_IDS']],
  [
    'leave to print what is not printed',
    { EMAIL_PROVIDER: 'none', SMS_PROVIDER: 'none', ALLOW_LOG_DELIVERY: 'true' },
    ['ALLOW_LOG_DELIVERY'],
  ],
  ['two nodes of one chain', { RPC_URL: 'https://a.example', RPC_URL_84532: 'https://b.example' }, ['RPC_URL_84532']],
  [
    'two nodes of the other chain',
    { CHAIN_ID: '8453', RPC_URL: 'https://a.example', RPC_URL_8453: 'https://b.example' },
    ['RPC_URL_8453'],
  ],
  ['a witness of a public node', { RPC_WITNESS_URL: 'https://b.example' }, ['RPC_WITNESS_URL']],
  ['how to follow what is not followed', { FOLLOWER_POLL_SECONDS: '5' }, ['FOLLOWER_POLL_SECONDS']],
  [
    'two that follow',
    { INDEXER_URL: 'https://i.example', FOLLOWER: 'true', RPC_URL: 'https://a.example' },
    ['INDEXER_URL'],
  ],
  ['sponsored calls without a bundler', { SPONSOR_CALLS: '*' }, ['SPONSOR_CALLS']],
  ['a secret of webhooks that go nowhere', { WEBHOOK_ALLOW_PRIVATE: 'true' }, ['WEBHOOK_ALLOW_PRIVATE']],
  ['a limit of a relay without a key', { RELAY_DAILY_MAX: '5' }, ['RELAY_DAILY_MAX']],
  ['a limit of recoveries without a guardian', { RECOVERIES_DAILY_MAX: '5' }, ['RECOVERIES_DAILY_MAX']],
  ['a token for a file', { DATABASE_AUTH_TOKEN: 'x' }, ['DATABASE_AUTH_TOKEN']],
  [
    'how a file is written, where there is none',
    { DATABASE_URL: 'libsql://db.example', DATABASE_CHECKPOINT: 'external' },
    ['DATABASE_CHECKPOINT'],
  ],
  ['half of a key', { BACKUP_S3_ACCESS_KEY_ID: 'x' }, ['BACKUP_S3_ACCESS_KEY_ID']],
])('%s is a contradiction', (_, vars, names) => {
  const warnings = found(vars);
  expect(warnings.map(({ name }) => name)).toEqual(names);
  for (const { problem, remedy } of warnings) {
    expect(problem.length).toBeGreaterThan(10);
    expect(remedy).toMatch(/set|remove|add/);
  }
});

test.each<[string, Record<string, string>]>([
  ['no settings', {}],
  ['mail over SMTP', { ...SMTP, EMAIL_PROVIDER: 'smtp' }],
  ['countries of printed SMS', { SMS_COUNTRIES: '+49' }],
  ['a public vault behind a proxy', { ...HOSTED, TRUSTED_PROXIES: '10.0.0.0/8', CLIENT_IP_HEADER: 'X-Real-IP' }],
  ['passkeys of the domain above', { ...HOSTED, RP_IDS: 'example.com' }],
  ['a node of its own', { RPC_URL: 'https://a.example', RPC_WITNESS_URL: 'https://b.example' }],
  ['a node by the name of its chain', { RPC_URL_84532: 'https://a.example', RPC_PUBLIC_URL: 'https://b.example' }],
  ['a node of the other chain', { RPC_URL_8453: 'https://a.example' }],
  ['another chain', { CHAIN_ID: '31337', RPC_URL: 'http://127.0.0.1:8545', RPC_URL_84532: 'https://a.example' }],
])('%s contradict nothing', (_, vars) => {
  expect(found(vars)).toEqual([]);
});
