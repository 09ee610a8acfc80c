import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { createTxt } from '../../../commands/doctor/dns.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { byArea, type Finding, runChecks } from '../../../lib/doctor/finding.ts';
import { mailDnsChecks } from '../../../lib/doctor/mail-dns.ts';
import { type NameServer, startNameServer, type Zone } from '../../support/dns.ts';
import { examinedOf } from '../../support/doctor.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const DOMAIN = 'mail.tea-house.org';
const SELECTOR = `vault2026._domainkey.${DOMAIN}`;
const SMTP = { EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://mx.tea-house.org', EMAIL_FROM: `Tea <codes@${DOMAIN}>` };

const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const publicHalf = ({ publicKey }: ReturnType<typeof newKey>) =>
  publicKey.export({ type: 'spki', format: 'der' }).toString('base64');

describe('what DNS says of EMAIL_FROM', () => {
  const key = newKey();
  const signed = {
    DKIM_SELECTOR: 'vault2026',
    DKIM_PRIVATE_KEY: key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim().replaceAll('\n', '\\n'),
  };
  const good: Zone = {
    [DOMAIN]: ['v=spf1 a:mx.tea-house.org -all', 'another service has a record here'],
    [SELECTOR]: [`v=DKIM1; k=rsa; p=${publicHalf(key)}`],
    [`_dmarc.${DOMAIN}`]: ['v=DMARC1; p=reject; rua=mailto:dmarc@tea-house.org'],
  };
  let server: NameServer;
  beforeAll(async () => {
    server = await startNameServer();
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    for (const name of Object.keys(server.zone)) delete server.zone[name];
    Object.assign(server.zone, good);
  });
  const look = async (vars: Record<string, string> = signed, servers = [server.address]) => {
    const config = readConfig({ VAULT_SECRET, ...SMTP, ...vars });
    return runChecks(systemClock, mailDnsChecks(examinedOf(config, { txt: createTxt(servers) })));
  };
  const of = (findings: readonly Finding[], name: string) => {
    const found = findings.filter((finding) => finding.name === name);
    expect(found.length).toBe(1);
    return `${found[0]?.state} ${found[0]?.text}${found[0]?.remedy === undefined ? '' : ` → ${found[0].remedy}`}`;
  };

  test('is well when all three are published', async () => {
    expect((await look()).map(({ name, state, text }) => `${name} ${state} ${text}`)).toEqual([
      `spf ok ${DOMAIN} has one SPF record, 1 of 10 look-ups, -all`,
      `dkim ok the key at ${SELECTOR} is that of DKIM_PRIVATE_KEY`,
      `dmarc ok _dmarc.${DOMAIN} says reject`,
    ]);
  });

  test('has the exact record to publish where one is missing', async () => {
    for (const name of Object.keys(server.zone)) delete server.zone[name];
    const found = await look();
    expect(of(found, 'spf')).toContain(`TXT record at ${DOMAIN}, with the servers`);
    expect(of(found, 'spf')).toEndWith('such as: v=spf1 a:mx.tea-house.org -all');
    expect(of(found, 'dkim')).toBe(
      `fail mails are signed, but there is no key at ${SELECTOR} → publish one TXT record at ${SELECTOR}: v=DKIM1; k=rsa; p=${publicHalf(key)}`,
    );
    expect(of(found, 'dmarc')).toEndWith(`_dmarc.${DOMAIN}: v=DMARC1; p=quarantine; rua=mailto:postmaster@${DOMAIN}`);
  });

  test('goes to no terminal as commands to it', async () => {
    server.zone[DOMAIN] = ['v=spf1 a\x1b]0;owned\x07\x9b31m\u202ex -all'];
    const spf = byArea(await look()).find(({ name }) => name === 'spf');
    expect(spf?.text).toBe(`the SPF record of ${DOMAIN} has an invalid term: a ]0;owned 31m x`);
    server.zone[DOMAIN] = ['v=spf1 include:\x1b[2Jnowhere.invalid -all'];
    expect(JSON.stringify(byArea(await look()))).toContain('leads to  [2Jnowhere.invalid, which has none');
  });

  test('is read by TCP where an answer is too long for UDP', async () => {
    server.udpBytesMax = 200;
    expect(of(await look(), 'dkim')).toStartWith('ok');
    server.udpBytesMax = 1_232;
  });

  test.each([
    [['v=spf1 -all', 'v=spf1 mx -all'], 'fail mail.tea-house.org has 2 SPF records'],
    [['v=spf1 ipv4:192.0.2.1 -all'], 'fail the SPF record of mail.tea-house.org has an invalid term: ipv4:192.0.2.1'],
    [['v=spf1 mx'], 'warn the SPF record of mail.tea-house.org ends without all'],
    [['v=spf1 mx +all'], 'warn the SPF record of mail.tea-house.org says +all'],
    [
      ['v=spf1 include:gone.tea-house.org -all'],
      'fail the SPF record of mail.tea-house.org leads to gone.tea-house.org',
    ],
    [['v=spf1 redirect=_spf.tea-house.org'], 'ok mail.tea-house.org has one SPF record, 3 of 10 look-ups'],
    [['v=spf1 include:many.tea-house.org mx -all'], 'fail the SPF record of mail.tea-house.org takes 12 look-ups'],
    [['v=spf1 include:loop.tea-house.org -all'], 'fail the SPF record of mail.tea-house.org takes'],
  ])('an SPF record %j: %s', async (records, words) => {
    Object.assign(server.zone, {
      [DOMAIN]: records,
      '_spf.tea-house.org': ['v=spf1 mx a ip4:192.0.2.0/24 ~all'],
      'many.tea-house.org': [`v=spf1 ${'a:mx.tea-house.org '.repeat(10)}-all`],
      'loop.tea-house.org': ['v=spf1 include:loop.tea-house.org -all'],
    });
    expect(of(await look(), 'spf')).toStartWith(words);
  });

  test.each([
    ['that is revoked', 'p=', 'fail the key at vault2026._domainkey.mail.tea-house.org is revoked'],
    ['that is none', 'v=DKIM1; k=rsa', 'fail the record at vault2026._domainkey.mail.tea-house.org is not a DKIM key'],
    [
      'of another pair',
      `v=DKIM1; p=${publicHalf(newKey())}`,
      'fail the key at vault2026._domainkey.mail.tea-house.org is not the public',
    ],
    [
      'for another hash',
      `v=DKIM1; h=sha1; p=${publicHalf(key)}`,
      'fail the record at vault2026._domainkey.mail.tea-house.org forbids sha256',
    ],
    [
      'for a test',
      `v=DKIM1; t=y; p=${publicHalf(key)}`,
      'warn the key at vault2026._domainkey.mail.tea-house.org is marked as a test',
    ],
    [
      'with white space in it',
      `p=${publicHalf(key).replace(/.{60}/g, '$& ')}`,
      'ok the key at vault2026._domainkey.mail.tea-house.org',
    ],
  ])('a key %s', async (_, record, words) => {
    server.zone[SELECTOR] = [record];
    expect(of(await look(), 'dkim')).toStartWith(words);
  });

  test('mails that the vault does not sign, or that another service sends, have no key to compare', async () => {
    expect(of(await look({}), 'dkim')).toStartWith('skipped the vault signs no mails');
    const resend = { EMAIL_PROVIDER: 'resend', RESEND_API_KEY: 're_1' };
    expect((await look(resend)).map(({ name }) => name)).toEqual(['dmarc']);
    expect(await look({ EMAIL_PROVIDER: 'log' })).toEqual([]);
  });

  test.each([
    ['mail.tea-house.org', 'v=DMARC1; p=none', 'warn the DMARC record at _dmarc.mail.tea-house.org says none'],
    [
      'mail.tea-house.org',
      'v=DMARC1; rua=mailto:a@b.org',
      'fail the DMARC record at _dmarc.mail.tea-house.org has no policy',
    ],
    ['tea-house.org', 'v=DMARC1; p=none; sp=quarantine', 'ok _dmarc.tea-house.org says quarantine'],
    ['tea-house.org', 'v=DMARC1;p=reject', 'ok _dmarc.tea-house.org says reject'],
  ])('a policy at _dmarc.%s: %s', async (at, record, words) => {
    delete server.zone[`_dmarc.${DOMAIN}`];
    server.zone[`_dmarc.${at}`] = [record];
    expect(of(await look(), 'dmarc')).toStartWith(words);
  });

  test('a strict policy is met, as the signature is of the domain of EMAIL_FROM; two records are none', async () => {
    server.zone[`_dmarc.${DOMAIN}`] = ['v=DMARC1; p=reject; adkim=s'];
    expect(of(await look(), 'dmarc')).toStartWith('ok');
    server.zone[`_dmarc.${DOMAIN}`] = ['v=DMARC1; p=reject', 'v=DMARC1; p=none'];
    expect(of(await look(), 'dmarc')).toStartWith('fail there are 2 DMARC records');
  });

  test('is not asked about names for examples, and a silent name server is no fault of the records', async () => {
    expect(of(await look({ EMAIL_FROM: 'codes@tea.example' }), 'spf')).toBe(
      'skipped tea.example is a name for examples: nothing is asked about it',
    );
    const config = readConfig({ VAULT_SECRET, ...SMTP, EMAIL_PROVIDER: 'resend', RESEND_API_KEY: 're_1' });
    const txt = () => Promise.reject(Object.assign(new Error('late'), { code: 'ETIMEOUT' }));
    expect(of(await runChecks(systemClock, mailDnsChecks(examinedOf(config, { txt }))), 'dmarc')).toBe(
      'skipped DNS does not answer: ETIMEOUT',
    );
  });
});
