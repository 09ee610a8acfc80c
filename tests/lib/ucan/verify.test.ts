import { beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { toBase64url } from '../../../lib/base/bytes.ts';
import { cidBytes } from '../../../lib/ucan/cid.ts';
import { covers, isCommand } from '../../../lib/ucan/command.ts';
import { pack, unpack } from '../../../lib/ucan/container.ts';
import type { Algorithm } from '../../../lib/ucan/did-key.ts';
import { encode } from '../../../lib/ucan/encode.ts';
import { inspectToken } from '../../../lib/ucan/inspect.ts';
import { type Ipld, type IpldMap, link } from '../../../lib/ucan/ipld.ts';
import { mintDelegation, mintInvocation, type NewDelegation, type NewInvocation } from '../../../lib/ucan/mint.ts';
import { createVerify, twinOf, type UcanSigner } from '../../../lib/ucan/signature.ts';
import { readTokens, verifyInvocation } from '../../../lib/ucan/verify.ts';
import { SEED } from '../../support/seed.ts';
import { forge, forgeEnvelope, newSigner } from '../../support/ucan.ts';

const VECTORS = join(import.meta.dir, '../../../../shared/vectors/ucan');
const NOW = 1_767_225_600_000;
const MINUTE = 60_000;
const COMMAND = '/vault/console/events/read';

const verify = createVerify();
let vault: UcanSigner;
let bob: UcanSigner;
let carol: UcanSigner;
beforeAll(async () => {
  [vault, bob, carol] = (await Promise.all(
    ['Ed25519', 'P-256', 'secp256k1'].map((one) => newSigner(one as Algorithm)),
  )) as [UcanSigner, UcanSigner, UcanSigner];
});

const judge = (text: string, service = vault.did, now = NOW) => verifyInvocation(text, { service, now, verify });

/** `ok`, or why not. */
async function verdictOf(text: string, service?: string): Promise<string> {
  const verdict = await judge(text, service);
  return verdict.ok ? 'ok' : verdict.why;
}

function invoke(parts: Partial<NewInvocation> = {}) {
  const nonce = crypto.getRandomValues(new Uint8Array(12));
  return mintInvocation({
    key: vault,
    subject: vault.did,
    command: COMMAND,
    args: { app: 'default' },
    expiresAt: NOW + 5 * MINUTE,
    nonce,
    ...parts,
  });
}

function delegate(parts: Partial<NewDelegation> = {}) {
  const nonce = crypto.getRandomValues(new Uint8Array(12));
  const common = { subject: vault.did, command: '/vault/console', policy: [], expiresAt: NOW + 60 * MINUTE, nonce };
  return mintDelegation({ key: vault, audience: bob.did, ...common, ...parts });
}

/** Bob's invocation under one delegation with these parts. */
async function underDelegation(
  parts: Partial<NewDelegation>,
  invocation: Partial<NewInvocation> = {},
): Promise<string> {
  const { bytes } = await delegate(parts);
  return verdictOf((await invoke({ key: bob, proofs: [bytes], ...invocation })).token);
}

describe('an invocation', () => {
  test('by the subject itself needs no proof; the verdict says all that counts', async () => {
    const { token, cid } = await invoke();
    expect(token).toStartWith('C');
    expect(await judge(token)).toEqual({
      ok: true,
      cid,
      cids: [cid],
      issuer: vault.did,
      subject: vault.did,
      command: COMMAND,
      args: Object.assign(Object.create(null), { app: 'default' }),
      ownExpiresAt: NOW + 5 * MINUTE,
      expiresAt: NOW + 5 * MINUTE,
    });
  });

  test('is read bare too', async () => {
    expect(await verdictOf(toBase64url((await invoke()).bytes))).toBe('ok');
  });

  test.each<Algorithm>(['Ed25519', 'P-256', 'secp256k1'])('is signed by %s', async (algorithm) => {
    const key = await newSigner(algorithm);
    expect(await verdictOf((await invoke({ key, subject: key.did })).token, key.did)).toBe('ok');
    const [token] = readTokens((await invoke({ key })).token);
    expect(token?.issuer).toBe(key.did);
  });

  test('must be made out to the service: its audience, or its subject without one', async () => {
    expect(await verdictOf((await invoke({ audience: vault.did })).token)).toBe('ok');
    expect(await verdictOf((await invoke({ audience: bob.did })).token)).toBe('audience');
    expect(await verdictOf((await invoke({ subject: bob.did, key: bob })).token)).toBe('audience');
    expect(await verdictOf((await invoke({ subject: bob.did, key: bob, audience: vault.did })).token)).toBe('ok');
  });

  test('ends a minute past its time at the latest, and one without an end does not', async () => {
    const { token } = await invoke({ expiresAt: NOW });
    expect((await judge(token, vault.did, NOW + MINUTE)).ok).toBe(true);
    expect(await judge(token, vault.did, NOW + MINUTE + 1)).toMatchObject({ ok: false, why: 'expired' });
    expect(await judge((await invoke({ expiresAt: null })).token)).toMatchObject({ ok: true, expiresAt: null });
  });

  test('by another needs a proof', async () => {
    expect(await verdictOf((await invoke({ key: bob })).token)).toBe('unproven');
  });
});

/** A P-256 token has two names. */
const twins = (token: string) => readTokens(token).flatMap(({ cids }) => cids);

describe('a chain', () => {
  test('leads from the subject to whoever invokes, and ends with its first link', async () => {
    const first = await delegate({ expiresAt: NOW + 2 * MINUTE });
    const second = await delegate({ key: bob, audience: carol.did, command: COMMAND, subject: null });
    const { token, cid } = await invoke({ key: carol, proofs: [first.bytes, second.bytes] });
    const verdict = await judge(token);
    expect(verdict).toMatchObject({ ok: true, cid, issuer: carol.did, expiresAt: NOW + 2 * MINUTE });
    expect(verdict.ok && verdict.cids).toEqual([cid, first.cid, ...twins(second.token)]);
  });

  test('in another order than root first leads nowhere', async () => {
    const first = await delegate();
    const second = await delegate({ key: bob, audience: carol.did });
    expect(await verdictOf((await invoke({ key: carol, proofs: [second.bytes, first.bytes] })).token)).toBe('unproven');
  });

  test.each<[string, string, () => Partial<NewDelegation>, (() => Partial<NewInvocation>)?]>([
    ['ok', 'the very command', () => ({ command: COMMAND })],
    ['ok', 'all commands, by the subject', () => ({ command: '/' })],
    ['command', 'a command that only begins the same', () => ({ command: '/vault/console/events/re' })],
    ['command', 'a sibling', () => ({ command: '/vault/console/events/write' })],
    ['command', 'a command below', () => ({ command: `${COMMAND}/more` })],
    [
      'command',
      'a longer one under a shorter by letters',
      () => ({ command: COMMAND }),
      () => ({ command: `${COMMAND}write` }),
    ],
    ['command', 'an invocation of everything', () => ({ command: '/' }), () => ({ command: '/' })],
    ['audience', 'another audience', () => ({ audience: carol.did })],
    ['subject', 'another subject', () => ({ subject: bob.did })],
    ['unproven', 'no subject at the root', () => ({ subject: null })],
    ['unproven', 'a root by another than the subject', () => ({ key: carol })],
    ['ok', 'an end within a minute ago', () => ({ expiresAt: NOW - MINUTE })],
    ['expired', 'an end before', () => ({ expiresAt: NOW - MINUTE - 1000 })],
    ['ok', 'no end', () => ({ expiresAt: null })],
    ['ok', 'a beginning within a minute', () => ({ notBefore: NOW + MINUTE })],
    ['early', 'a beginning after that', () => ({ notBefore: NOW + MINUTE + 1000 })],
    ['ok', 'a policy that is satisfied', () => ({ policy: [['==', '.app', 'default']] })],
    ['policy', 'a policy that is not', () => ({ policy: [['==', '.app', 'other']] })],
    ['policy', 'a policy about what is not there', () => ({ policy: [['!=', '.channel', 'audit']] })],
    ['malformed', 'a policy that is none', () => ({ policy: [['is', '.app', 'default']] })],
    ['malformed', 'a command in capitals', () => ({ command: '/Vault' })],
    ['malformed', 'a command with a slash at its end', () => ({ command: '/vault/' })],
  ])('%s: %s', async (why, _, parts, invocation = () => ({})) => {
    expect(await underDelegation(parts(), invocation())).toBe(why);
  });

  test('all commands cannot be passed on by another than the subject', async () => {
    const first = await delegate({ command: '/' });
    const second = await delegate({ key: bob, audience: carol.did, command: '/' });
    expect(await verdictOf((await invoke({ key: carol, proofs: [first.bytes, second.bytes] })).token)).toBe('command');
  });

  test('is refused when a link is missing, wherever', async () => {
    const { bytes } = await delegate();
    const whole = await invoke({ key: bob, proofs: [bytes] });
    expect(await verdictOf(pack([whole.bytes]))).toBe('missing');
    expect(await verdictOf(toBase64url(whole.bytes))).toBe('missing');
  });

  test('has at most eight delegations', async () => {
    const chain = async (length: number) => {
      const keys = [vault, ...Array.from({ length }, () => bob)];
      const links = keys.slice(1).map((audience, i) => delegate({ key: keys[i] ?? vault, audience: audience.did }));
      const proofs = (await Promise.all(links)).map(({ bytes }) => bytes);
      return verdictOf((await invoke({ key: bob, proofs })).token);
    };
    expect([await chain(8), await chain(9)]).toEqual(['ok', 'large']);
    const [{ bytes }] = [await delegate()];
    const named = await forge(bob, 'inv', {
      ...payload(),
      iss: bob.did,
      prf: Array.from({ length: 9 }, () => link(cidBytes(bytes))),
    });
    expect(await verdictOf(pack([named, bytes]))).toBe('large');
  });

  test('rests on delegations by their own kind of CID: no time is spent on another, however long', async () => {
    for (const cid of [new Uint8Array(5_000).fill(255), cidBytes(new Uint8Array()).fill(0x55, 1, 2)]) {
      const named = await forge(vault, 'inv', { ...payload(), prf: [link(cid)] });
      expect(await verdictOf(pack([named]))).toBe('malformed');
    }
  });

  test('takes delegations that nobody names as if they were not there', async () => {
    const [own, other] = [await invoke(), await delegate({ audience: carol.did })];
    expect(await verdictOf(pack([own.bytes, other.bytes]))).toBe('ok');
  });
});

describe('a revoked link cannot be given another name', () => {
  test('both ways to sign it are told for P-256, and lead to one name', async () => {
    const { bytes, cid } = await invoke({ key: bob, subject: bob.did });
    const [token] = readTokens(pack([bytes]));
    const { signature = new Uint8Array(64), signed = new Uint8Array() } = token ?? {};
    const twin = new Uint8Array([0x82, ...encode(twinOf(signature)), ...signed]);
    const [one, other] = [await judge(pack([bytes]), bob.did), await judge(pack([twin]), bob.did)];
    expect(one.ok && one.cids).toContain(cid);
    expect(one.ok && one.cids).toHaveLength(2);
    expect(one).toEqual(other);
  });

  test('for secp256k1 the other way is refused', async () => {
    const high = await newSigner('secp256k1', { lowS: false });
    expect(await verdictOf((await invoke({ key: high, subject: high.did })).token, high.did)).toBe('signature');
  });
});

function payload(): IpldMap {
  return {
    iss: vault.did,
    sub: vault.did,
    cmd: COMMAND,
    args: {},
    prf: [],
    exp: NOW / 1000 + 60,
    nonce: new Uint8Array(12),
  };
}

describe('what is not a token as the standard has it', () => {
  test.each<[string, () => Promise<Uint8Array>]>([
    [
      'another signature header',
      () => forge(vault, 'inv', payload(), Uint8Array.of(0x34, 0x01, 0xed, 0x01, 0xed, 0x01, 0x13, 0x55)),
    ],
    ['a header of the draft', () => forge(vault, 'inv', payload(), Uint8Array.of(0x34, 0xed, 0x01, 0x71))],
    ['a header of another key', () => forge(bob, 'inv', { ...payload(), iss: vault.did })],
    ['the tag of the draft', () => forgeEnvelope(vault, { h: Uint8Array.of(0), 'ucan/inv@1.0.0-rc.1': payload() })],
    [
      'two payloads',
      () => forgeEnvelope(vault, { h: Uint8Array.of(0), 'ucan/inv@1.0.0': payload(), 'ucan/dlg@1.0.0': payload() }),
    ],
    ['no envelope', async () => encode(payload())],
    ['a signature that is text', async () => encode(['x', { h: Uint8Array.of(0), 'ucan/inv@1.0.0': payload() }])],
    ['a member that is not known', () => forge(vault, 'inv', { ...payload(), caveat: true })],
    ['no command', () => forge(vault, 'inv', without('cmd'))],
    ['no end', () => forge(vault, 'inv', without('exp'))],
    ['no arguments', () => forge(vault, 'inv', without('args'))],
    ['no proofs', () => forge(vault, 'inv', without('prf'))],
    ['no issuer', () => forge(vault, 'inv', without('iss'))],
    ['no subject', () => forge(vault, 'inv', without('sub'))],
    ['proofs that are no links', () => forge(vault, 'inv', { ...payload(), prf: ['x'] })],
    ['arguments that are a list', () => forge(vault, 'inv', { ...payload(), args: [] })],
    ['an end that is text', () => forge(vault, 'inv', { ...payload(), exp: '1' })],
    ['an end with a fraction', () => forge(vault, 'inv', { ...payload(), exp: 1.5 })],
    ['an end past all dates', () => forge(vault, 'inv', { ...payload(), exp: 2 ** 52 })],
    ['an issuer that is no did:key', () => forge(vault, 'inv', { ...payload(), iss: 'did:web:example.com' })],
    ['a subject that is no DID', () => forge(vault, 'inv', { ...payload(), sub: 'vault' })],
    ['a nonce that is text', () => forge(vault, 'inv', { ...payload(), nonce: 'x' })],
  ])('%s', async (_, make) => {
    expect(await verdictOf(pack([await make()]))).toBe('malformed');
  });

  const without = (name: string) => Object.fromEntries(Object.entries(payload()).filter(([key]) => key !== name));

  test('a signature over something else', async () => {
    const [one, other] = [await invoke(), await invoke()];
    const [a, b] = [readTokens(one.token)[0], readTokens(other.token)[0]];
    const swapped = new Uint8Array([0x82, ...encode(b?.signature ?? null), ...(a?.signed ?? [])]);
    expect(await verdictOf(pack([swapped]))).toBe('signature');
  });

  test('one issued in the future', async () => {
    const issued = (at: number) => forge(vault, 'inv', { ...payload(), iat: at });
    expect(await verdictOf(pack([await issued(NOW / 1000 + 60)]))).toBe('ok');
    expect(await verdictOf(pack([await issued(NOW / 1000 + 61)]))).toBe('early');
  });
});

describe('containers', () => {
  test.each<[string, () => Promise<string> | string]>([
    ['nothing', () => ''],
    ['a letter', () => 'C'],
    ['padding', async () => `${(await invoke()).token}=`],
    ['standard base64', () => 'C+/+/'],
    ['white space', async () => ` ${(await invoke()).token}`],
    ['another way to write the last character', async () => otherEnd((await invoke()).token)],
    ['no container', () => `C${toBase64url(encode(1))}`],
    ['another version', () => `C${toBase64url(encode({ 'ctn-v2': [] }))}`],
    ['something beside the tokens', () => `C${toBase64url(encode({ 'ctn-v1': [], x: 1 }))}`],
    ['text among the tokens', () => `C${toBase64url(encode({ 'ctn-v1': ['x'] }))}`],
    ['no token', () => pack([])],
    ['junk beside the token', async () => pack([(await invoke()).bytes, Uint8Array.of(1, 2, 3)])],
    ['two invocations', async () => pack([(await invoke()).bytes, (await invoke()).bytes])],
    ['a delegation alone', async () => (await delegate()).token],
  ])('refused: %s', async (_, make) => {
    expect(await verdictOf(await make())).toBe('malformed');
  });

  test('are written sorted and read in any order', async () => {
    const [one, other] = [(await invoke()).bytes, (await delegate()).bytes];
    expect(pack([one, other])).toBe(pack([other, one]));
    const unsorted = [...unpack(pack([one, other]))].reverse();
    expect(unpack(`C${toBase64url(encode({ 'ctn-v1': unsorted }))}`)).toEqual(unsorted);
  });

  test('are at most 8 KiB and nine tokens', async () => {
    expect(await verdictOf('C'.repeat(8193))).toBe('large');
    expect(await verdictOf((await invoke({ args: { a: 'x'.repeat(6000) } })).token)).toBe('large');
    const small = Array.from({ length: 10 }, (_, i) => Uint8Array.of(i));
    expect(await verdictOf(pack(small))).toBe('large');
  });

  const otherEnd = (text: string) => {
    const spare = { 2: 'Q', 3: 'E' }[text.slice(1).length % 4] ?? 'AA';
    return spare === 'AA' ? `${text}A` : text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);
  };
});

test('commands are compared by whole segments', () => {
  expect(['/', '/a', '/a/b'].map((held) => covers(held, '/a/b'))).toEqual([true, true, true]);
  expect(['/a/b/c', '/a/bc', '/b', '/a/'].map((held) => covers(held, '/a/b'))).toEqual([false, false, false, false]);
  for (const text of ['', 'a', '/a/', '//', '/a//b', '/A', '/a b']) expect(isCommand(text)).toBe(false);
});

describe('whatever comes', () => {
  const bytes = fc.uint8Array({ maxLength: 400 });

  test('a verdict is given and nothing thrown', async () => {
    const text = fc.oneof(
      fc.string(),
      bytes.map((one) => pack([one])),
      bytes.map((one) => `C${toBase64url(one)}`),
      bytes.map(toBase64url),
    );
    await fc.assert(
      fc.asyncProperty(text, async (one) => expect((await judge(one)).ok).toBe(false)),
      { numRuns: 1000, seed: SEED },
    );
  });

  test('a token of which one byte is another is no token of the vault', async () => {
    const first = await delegate({ policy: [['==', '.app', 'default']] });
    const { bytes: whole } = await invoke({ key: bob, proofs: [first.bytes] });
    const changes = fc.tuple(fc.boolean(), fc.nat(10_000), fc.integer({ min: 1, max: 255 }));
    const check = async ([inProof, at, by]: [boolean, number, number]) => {
      const changed = (one: Uint8Array) => one.map((byte, i) => (i === at % one.length ? byte ^ by : byte));
      const text = inProof ? pack([whole, changed(first.bytes)]) : pack([changed(whole), first.bytes]);
      expect((await judge(text)).ok).toBe(false);
      expect((await inspectToken(text, { now: NOW, verify })).valid).toBe(false);
    };
    await fc.assert(fc.asyncProperty(changes, check), { numRuns: 1000, seed: SEED });
  });

  test('a payload may hold anything anywhere', async () => {
    const value = fc.oneof(
      fc.constantFrom<Ipld>(null, true, 0, -1, '', vault.did, [], {}, new Uint8Array(3), link(new Uint8Array(4))),
      fc.string(),
    ) as fc.Arbitrary<Ipld>;
    const member = fc.constantFrom(
      'iss',
      'aud',
      'sub',
      'cmd',
      'args',
      'prf',
      'exp',
      'nonce',
      'meta',
      'iat',
      'cause',
      'pol',
      'nbf',
    );
    await fc.assert(
      fc.asyncProperty(member, value, fc.constantFrom('inv' as const, 'dlg' as const), async (name, given, kind) => {
        const text = pack([await forge(vault, kind, { ...payload(), [name]: given })]);
        expect(typeof (await judge(text)).ok).toBe('boolean');
        expect(typeof (await inspectToken(text, { now: NOW, verify })).valid).toBe('boolean');
      }),
      { numRuns: 500, seed: SEED },
    );
  });
});

test('inspection says what a token says and what is wrong with each part', async () => {
  const first = await delegate({ expiresAt: NOW - 5 * MINUTE });
  const { token, cid } = await invoke({ key: bob, proofs: [first.bytes] });
  const { valid, fault, tokens } = await inspectToken(token, { now: NOW, verify });
  expect([valid, fault]).toEqual([false, 'expired']);
  expect(tokens.find(({ kind }) => kind === 'delegation')).toMatchObject({
    cid: first.cid,
    expires_at: new Date(NOW - 5 * MINUTE).toISOString(),
    faults: ['expired'],
    says: { iss: vault.did, aud: bob.did, cmd: '/vault/console', pol: [] },
  });
  expect(tokens.find(({ kind }) => kind === 'invocation')).toMatchObject({
    cid,
    faults: [],
    says: { prf: [{ '/': first.cid }] },
  });
  expect(await inspectToken((await delegate()).token, { now: NOW, verify })).toMatchObject({
    valid: true,
    fault: null,
  });
});

if (existsSync(VECTORS)) {
  interface Fixture {
    readonly name: string;
    readonly time: number;
    readonly invocation: Bytes;
    readonly proofs: readonly Bytes[];
    readonly error?: { readonly name: string };
  }
  interface Bytes {
    readonly '/': { readonly bytes: string };
  }
  const read = (file: string) => readFileSync(join(VECTORS, file), 'utf8');
  const { valid, invalid } = JSON.parse(read('invocation.json')) as { valid: Fixture[]; invalid: Fixture[] };
  const bytesOf = (one: Bytes) => new Uint8Array(Buffer.from(one['/'].bytes, 'base64'));
  const textOf = ({ invocation, proofs }: Fixture) => pack([invocation, ...proofs].map(bytesOf));
  const judgeFixture = (one: Fixture) => {
    const invocation = readTokens(textOf(one)).find((token) => token.kind === 'inv');
    return verifyInvocation(textOf(one), {
      service: invocation?.audience ?? invocation?.subject ?? '',
      now: one.time * 1000,
      verify,
    });
  };
  const WORDS: Readonly<Record<string, readonly string[]>> = {
    InvalidClaim: ['unproven'],
    UnavailableProof: ['missing'],
    Expired: ['expired'],
    TooEarly: ['early'],
    InvalidAudience: ['audience'],
    InvalidSubject: ['subject'],
    // The one of these whose chain leads nowhere either is refused for that, before its signature is looked at.
    InvalidSignature: ['signature', 'unproven'],
    MatchError: ['policy'],
  };

  describe("the standard's fixtures", () => {
    test.each(valid.map((one): [string, Fixture] => [one.name, one]))('valid: %s', async (_, one) => {
      expect(await judgeFixture(one)).toMatchObject({ ok: true });
    });

    test.each(invalid.map((one): [string, Fixture] => [one.name, one]))('invalid: %s', async (_, one) => {
      const verdict = await judgeFixture(one);
      expect(WORDS[one.error?.name ?? '']).toContain(verdict.ok ? 'ok' : verdict.why);
    });

    test('a delegation is read, and what it says written as the same bytes', async () => {
      const [one] = JSON.parse(read('delegation.json')).valid as [{ token: string; envelope: { payload: object } }];
      const bytes = new Uint8Array(Buffer.from(one.token, 'base64'));
      const [token] = readTokens(toBase64url(bytes));
      expect(token).toMatchObject({ kind: 'dlg', command: '/account', expiresAt: 1_753_353_393_000 });
      expect(token && encode([token.signature, { h: bytes.slice(71, 79), 'ucan/dlg@1.0.0': token.payload }])).toEqual(
        bytes,
      );
      expect(token && (await verify(token.issuer, token.signed, token.signature))).toBe(true);
    });

    test('the container holds ten tokens, which are of the draft and not sorted', async () => {
      const text = read('container.Base64URL').trim();
      const tokens = unpack(text);
      expect(tokens).toHaveLength(10);
      const listed = Buffer.from(encode({ 'ctn-v1': tokens }));
      expect(Buffer.from(read('container.Base64URL').trim().slice(1), 'base64url').equals(listed)).toBe(true);
      expect(await verdictOf(text)).toBe('large');
      expect(await verdictOf(pack(tokens.slice(0, 1)))).toBe('malformed');
    });
  });
} else console.log(`The UCAN standard's fixtures are not checked: there is no ${VECTORS}.`);
