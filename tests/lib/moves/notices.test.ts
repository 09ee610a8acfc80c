// Who has an address hears of it when somebody else claims it, and the wait begins with that (completions-3, 2.1, 2.6).
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { smtpMailer } from '../../../commands/mail/smtp.ts';
import { HOUR_MS } from '../../../lib/base/clock.ts';
import { type MailCatcher, startMailCatcher } from '../../../scripts/dev-stack/mail.ts';
import { CHALLENGE_VARS, createChallenges, timeOfHead } from '../../support/challenges.ts';
import { type TestClock, testClock } from '../../support/clock.ts';
import { OPERATOR } from '../../support/events.ts';
import { startTestChain } from '../../support/onchain.ts';
import type { Person } from '../../support/people.ts';
import { expectHoldsNone } from '../../support/secrecy.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const chain = await startTestChain();
afterAll(chain.stop);

let mail: MailCatcher;
let dir: string;
let t: TestVault;
/** Vaults on the same file, and what sends their mail. */
let opened: { readonly vault: TestVault; close(): Promise<void> }[] = [];
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'vault-notices-'));
  mail = await startMailCatcher();
  t = await open();
});
afterEach(async () => {
  await stopAll();
  await mail.stop();
  rmSync(dir, { recursive: true });
});

async function stopAll(): Promise<void> {
  for (const { vault, close } of opened) {
    await vault.stop();
    await close();
  }
  opened = [];
}

async function open(vars: Record<string, string> = {}, clock?: TestClock): Promise<TestVault> {
  const mailer = smtpMailer(mail.url);
  const vault = await startVault(
    {
      ...chain.vars,
      ...CHALLENGE_VARS,
      EMAIL_PROVIDER: 'smtp',
      EMAIL_FROM: 'vault@example.net',
      SMTP_URL: mail.url,
      ...vars,
    },
    { dir, mail: mailer, clock: clock ?? testClock(await timeOfHead(chain)) },
  );
  opened.push({ vault, close: () => mailer.close() });
  return vault;
}

/** Codes come by mail. */
const codeFor = (to: string) => {
  if (to.startsWith('+')) return t.codeFor(to);
  const newest = mailsTo(to).findLast(({ subject }) => subject.startsWith('Your code'));
  return /\b\d{6}\b/.exec(newest?.text ?? '')?.[0] ?? '';
};
const mailsTo = (to: string) => mail.messages.filter((one) => one.to.includes(to));
const people = createChallenges(chain, () => ({ ...t, codeFor }));
const { held, challenge, hours, look, holderOf } = people;
const claim: typeof people.claim = (...given) => people.claim(...given);

/** The subjects of what an address got besides codes. */
const toldTo = (to: string) => mailsTo(to).flatMap(({ subject }) => (subject.startsWith('Your code') ? [] : [subject]));
const challengeNow = async () => (await t.rows('SELECT * FROM challenges ORDER BY id DESC LIMIT 1'))[0];
const movesAt = async () => (await challengeNow())?.['moves_at'] as number | null;

/** The holder has a second address, and a contact of its recovery who reads French. */
async function known(owner: Person, txHash: string) {
  const other = { ...owner, identifier: `other.${owner.identifier}` };
  expect((await claim(other, txHash, { proof: true })).status).toBe(200);
  const contact = `contact.${owner.identifier}`;
  await t.rows(
    `INSERT INTO recovery_contacts (chain_id, account, identifier, set_until, app, language)
      VALUES (84532, :account, :key, 0, NULL, 'fr')`,
    { account: owner.account.toLowerCase(), key: `email:${contact}` },
  );
  await hours(1);
  return { other: other.identifier, contact };
}

const TWILIO = { TWILIO_ACCOUNT_SID: 'AC1', TWILIO_AUTH_TOKEN: 'x', TWILIO_VERIFY_SERVICE_SID: 'VA1' };
const BEGUN = 'Somebody else claims an address of your account on localhost';
const SOON = 'An address of your account on localhost moves in a day';
const MOVED = 'An address of your account on localhost has moved';

describe('S2: who has an address', () => {
  test('hears of a challenge at its begin, a day before the end and at the end, each address once', async () => {
    const all = await held();
    const { owner, thief, txHash } = all;
    const { other, contact } = await known(owner, txHash);
    await challenge(all);
    for (const to of [owner.identifier, other]) expect(toldTo(to).map(plain)).toEqual([BEGUN]);
    expect(toldTo(contact)).toEqual([expect.stringMatching(/^Quelqu’un d’autre revendique/)]);
    await hours(47);
    expect(toldTo(other)).toHaveLength(1);
    await hours(1);
    expect(toldTo(other).map(plain)).toEqual([BEGUN, SOON]);
    await hours(25);
    expect(await holderOf(owner)).toBe(thief.did);
    expect(toldTo(other).map(plain)).toEqual([BEGUN, SOON, MOVED]);
    expect(toldTo(contact)).toHaveLength(3);
    // Its own mail says who has it now.
    await t.clock.advance(120_000);
    await t.work();
    expect(toldTo(owner.identifier).map(plain)).toEqual([
      BEGUN,
      SOON,
      'Your address now belongs to another account on localhost',
    ]);
    const events = await t.rows(`SELECT data FROM events WHERE type LIKE 'registration.challenge%'`);
    expect(events).toHaveLength(2);
    expectHoldsNone([events, t.entries], owner.identifier, contact);
  });

  test('gets notices whose Message-IDs have the time: numbers come again in a database that was restored', async () => {
    const all = await held();
    await challenge(all);
    const openedAt = Number((await challengeNow())?.['opened_at']).toString(36);
    const ids = mailsTo(all.owner.identifier).map(({ headers }) => headers.get('message-id'));
    expect(ids.at(-1)).toMatch(new RegExp(`^<challenge-\\d+-${openedAt}@`));
  });

  test('gets a link with a pass, by which a code comes whatever strangers have used up', async () => {
    const all = await held();
    const { owner } = all;
    await challenge(all);
    const notice = mailsTo(owner.identifier).at(-1);
    const [link = ''] = /\S+\/account\S*/.exec(notice?.text ?? '') ?? [];
    const url = new URL(link);
    expect([url.pathname, url.search]).toEqual(['/account', '?lang=en']);
    const [, pass = ''] = /^#keep=(.+)$/.exec(url.hash) ?? [];
    await t.rows(`UPDATE codes SET sent_at = :now, by_pass = NULL`, { now: t.clock.now() });
    const { clock } = t;
    await stopAll();
    t = await open({ MAX_VERIFY_SENDS_PER_IP: '1', RATE_LIMIT_CODES_PER_IDENTIFIER: '1' }, clock);
    const asked = { identifier: owner.identifier, channel: 'email' };
    expect((await t.call('POST /api/verify/send', asked)).status).toBe(429);
    expect((await t.call('POST /api/verify/send', { ...asked, pass: `${pass}0` })).body.error).toBe('pass_invalid');
    expect((await t.call('POST /api/verify/send', { ...asked, pass })).status).toBe(200);
  });

  test('is waited for while mail is down; the wait begins when the server is back', async () => {
    const all = await held();
    await claim(all.thief, all.mined.txHash, { proof: true });
    const { port } = mail;
    await mail.stop();
    await chain.mine(3);
    await look();
    await look();
    expect(await challengeNow()).toMatchObject({ judged_at: expect.any(Number), moves_at: null });
    await hours(80);
    expect([await movesAt(), await holderOf(all.owner)]).toEqual([null, all.owner.did]);
    mail = await startMailCatcher({ port });
    const back = t.clock.now();
    await hours(5);
    expect(toldTo(all.owner.identifier).map(plain)).toEqual([BEGUN]);
    expect(await movesAt()).toBeGreaterThanOrEqual(back + 72 * HOUR_MS);
    await hours(70);
    expect(await holderOf(all.owner)).toBe(all.owner.did);
  });

  test('who cannot be reached for seven days is waited for no longer', async () => {
    const all = await held();
    await claim(all.thief, all.mined.txHash, { proof: true });
    await mail.stop();
    await chain.mine(3);
    await look();
    await look();
    const { opened_at: openedAt } = (await challengeNow()) as { opened_at: number };
    await hours(7 * 24 - 1);
    expect(await movesAt()).toBeNull();
    await hours(1);
    expect(await movesAt()).toBeWithin(openedAt + 10 * 24 * HOUR_MS, openedAt + 10 * 24 * HOUR_MS + 2 * HOUR_MS);
    expect(t.entries.filter(({ event }) => event === 'challenge_untold')).toHaveLength(1);
    mail = await startMailCatcher();
  });

  test('hears at once of a challenge that the vault can tell nobody of: the operator does', async () => {
    const all = await held();
    await claim(all.thief, all.mined.txHash, { proof: true });
    await stopAll();
    t = await open({ EMAIL_PROVIDER: 'none' }, t.clock);
    await chain.mine(3);
    await look();
    await look();
    expect(await movesAt()).toBeGreaterThan(t.clock.now() + 71 * HOUR_MS);
    expect(t.entries.filter(({ event }) => event === 'challenge_untold')).toHaveLength(1);
    expect((await t.call('GET /metrics', {}, {})).text).toContain('vault_challenge_notices_total{outcome="nobody"} 1');
  });

  test('hears each thing once where the vault starts again in between, and where two share a database', async () => {
    const all = await held();
    const { owner, txHash } = all;
    const { other } = await known(owner, txHash);
    await challenge(all);
    await stopAll();
    const [one, two] = [await open({}, t.clock), await open({}, t.clock)];
    t = one;
    const both = async () => {
      await t.clock.advance(30_000);
      await Promise.all([one.work(), two.work()]);
    };
    await both();
    await hours(49);
    await both();
    expect(toldTo(other).map(plain)).toEqual([BEGUN, SOON]);
    const renewed = await claim(owner, txHash, { proof: true });
    expect(renewed.status).toBe(200);
    await both();
    await both();
    expect(toldTo(other).map(plain)).toEqual([BEGUN, SOON, 'The claim to your address on localhost was refused']);
  });

  test('of a number gets a text message; where Twilio keeps the codes, the holder’s mail addresses alone hear', async () => {
    const numbers = await people.held('sms');
    const mailed = { ...numbers.owner, channel: 'email', identifier: 'of.the.number@example.com' } as const;
    expect((await claim(mailed, numbers.txHash, { proof: true })).status).toBe(200);
    await hours(1);
    await challenge(numbers);
    const texts = t.entries.filter(({ event, channel }) => event === 'notice' && channel === 'sms');
    expect(texts).toMatchObject([{ to: numbers.owner.identifier, notice: 'challenge_begun' }]);
    expect(String(texts[0]?.['link'])).toMatch(/^http:\/\/localhost:\d+\/account#keep=[0-9a-z]+-[0-9a-f]{32}$/);
    expect(toldTo(mailed.identifier).map(plain)).toEqual([BEGUN]);
    expect((await claim(numbers.owner, numbers.txHash, { proof: true })).status).toBe(200);
    await look();

    const { clock } = t;
    await stopAll();
    t = await open({ SMS_PROVIDER: 'twilio', SMS_COUNTRIES: '*', ...TWILIO }, clock);
    await t.rows(`UPDATE challenges SET ended_at = ended_at - 86400000`);
    await t.rows(`UPDATE registrations SET lost = NULL, waits = 1 WHERE did = :did`, { did: numbers.thief.did });
    await look();
    await look();
    expect(await movesAt()).toBeGreaterThan(clock.now() + 71 * HOUR_MS);
    expect(await t.rows(`SELECT recipient FROM challenge_notices WHERE challenge_id = 2 AND kind = 'begun'`)).toEqual([
      { recipient: 'other' },
    ]);
    expect(toldTo(mailed.identifier).map(plain)).toHaveLength(3);
  });

  test('who is erased meanwhile hears no more of it', async () => {
    const all = await held();
    const { owner, txHash } = all;
    const { other } = await known(owner, txHash);
    await challenge(all);
    expect((await t.call('POST /v1/console/person/erase', { identifier: owner.identifier }, OPERATOR)).status).toBe(
      200,
    );
    expect(await t.rows(`SELECT id FROM challenge_notices`)).toEqual([]);
    await hours(80);
    expect(toldTo(other).map(plain)).toEqual([BEGUN]);
  });
});

/** Subjects without the port. */
const plain = (subject: string) => subject.replace(/localhost:\d+/, 'localhost');
