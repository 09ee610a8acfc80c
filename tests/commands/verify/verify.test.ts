import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TRANSFER_EVENT } from '../../../client/operations.ts';
import { fromHex } from '../../../lib/base/bytes.ts';
import { createKeys } from '../../../lib/identity/keys.ts';
import { signAttestation } from '../../../lib/verification/attestation.ts';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { authorizationOf, settleAuthorization } from '../../support/authorizations.ts';
import { testClock } from '../../support/clock.ts';
import { createHolder, credentialFor } from '../../support/credentials.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { startForwarder } from '../../support/forwarder.ts';
import { createPayer, orderOf, payOrder, USDC } from '../../support/payers.ts';
import { runProgram } from '../../support/run.ts';
import { originOf } from '../../support/touch.ts';
import { startVault, VAULT_SECRET } from '../../support/vault.ts';

// `vault verify`: exit code 0 good, 1 not good, 2 invalid usage, 3 not decided.

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const at = (name: string) => join(folder.path, name);
const keep = (name: string, value: unknown) =>
  writeFileSync(at(name), typeof value === 'string' ? value : JSON.stringify(value));
const run = (args: readonly string[], vars: Readonly<Record<string, string>> = {}) =>
  runProgram(args, { cwd: folder.path, vars });
const verify = (args: readonly string[], vars?: Readonly<Record<string, string>>) => run(['verify', ...args], vars);
const judge = async (args: readonly string[], vars?: Readonly<Record<string, string>>) => {
  const { code, out } = await verify([...args, '--json'], vars);
  return { code, ...JSON.parse(out) } as { code: number; kind: string; verdict: string; finding: string; facts: never };
};

describe('vault verify of a payment', async () => {
  const chain = await startChain();
  const second = startForwarder(chain.url);
  afterAll(() => Promise.all([second.stop(), chain.stop()]));
  const account = await createPayer(chain.rpc, 2);
  const order = orderOf({ token: USDC });
  const receipt = await payOrder(chain.rpc, account, order);
  // A depth that makes it final, whichever rule the node has.
  await chain.rpc('anvil_mine', ['0x80']);
  beforeEach(() => {
    second.trouble = undefined;
    keep('receipt.json', receipt);
    keep('order.json', order);
  });
  const nodes = ['--node', chain.url, '--node', second.url];

  test('is good of a payment by authorization, which has no userOpHash', async () => {
    const tea = orderOf({ token: USDC });
    const authorization = await authorizationOf(account.address, tea);
    const txHash = await settleAuthorization(chain.rpc, account, authorization);
    await chain.rpc('anvil_mine', ['0x80']);
    keep('authorization.json', { by: 'authorization', account: account.address, txHash });
    keep('tea.json', tea);
    const judged = await judge(['authorization.json', '--order', 'tea.json', ...nodes]);
    expect(judged).toMatchObject({ code: 0, kind: 'payment', verdict: 'good' });
    expect(judged.facts as object).toMatchObject({ by: 'authorization', nonce: authorization.nonce, txHash });
    expect(await judge(['authorization.json', '--order', 'order.json', ...nodes])).toMatchObject({ code: 3 });
  });

  test('is good where each node shows that it pays the order', async () => {
    const { code, kind, facts } = await judge(['receipt.json', '--order', 'order.json', ...nodes]);
    expect([code, kind]).toEqual([0, 'payment']);
    expect(facts as object).toMatchObject({ userOpHash: receipt.userOpHash, txHash: receipt.txHash });
    const { out } = await verify(['receipt.json', '--order', 'order.json', ...nodes]);
    expect(out).toStartWith('✓ good: receipt of a payment. It pays the order, in a final block.\n');
    expect(second.methods).toContain('eth_getTransactionReceipt');
  });

  test('of another order, another amount and another time is not good', async () => {
    const found = async (change: object) => {
      keep('order.json', { ...order, ...change });
      const { code, facts } = await judge(['receipt.json', '--order', 'order.json', ...nodes]);
      return [code, (facts as { reason?: string }).reason];
    };
    expect(await found({ id: 'another' })).toEqual([1, 'other_order']);
    expect(await found({ amount: '1' })).toEqual([1, 'no_transfer']);
    expect(await found({ since: Math.floor(Date.now() / 1000) + 7_200 })).toEqual([1, 'too_old']);
  });

  test('without the order, or without a node, is not decided, and asks nobody', async () => {
    const before = second.methods.length;
    for (const args of [
      ['receipt.json', ...nodes],
      ['receipt.json', '--order', 'order.json'],
    ])
      expect((await judge(args)).code).toBe(3);
    expect(second.methods.length).toBe(before);
  });

  test('is not decided by a node that does not answer, which is not named, nor by two that disagree', async () => {
    const args = ['receipt.json', '--order', 'order.json', ...nodes];
    second.trouble = () => new Response('busy', { status: 503 });
    const silent = await verify(args);
    expect([silent.code, `${silent.out}${silent.err}`.includes(second.url)]).toEqual([3, false]);
    second.trouble = async (forward, methods) => {
      const answer = (await (await forward()).json()) as { result: { logs: { topics: string[] }[] } };
      // This node leaves out what the token did.
      if (methods[0] === 'eth_getTransactionReceipt')
        answer.result.logs = answer.result.logs.filter(({ topics }) => topics[0] !== TRANSFER_EVENT);
      return Response.json(answer);
    };
    expect(await judge(args)).toMatchObject({ code: 3, verdict: 'undecided' });
  });

  test('with an order that is none is invalid usage', async () => {
    keep('order.json', { ...order, amount: 5 });
    const { code, err } = await verify(['receipt.json', '--order', 'order.json', ...nodes]);
    expect([code, err]).toEqual([2, expect.stringContaining('amount')]);
  });
});

describe('vault verify of an attestation', () => {
  const vars = { VAULT_SECRET, REGISTRAR_DID: 'did:web:vault.example' };
  const keys = createKeys(fromHex(VAULT_SECRET) as Uint8Array).attestation;
  const signed = (change: Partial<Parameters<typeof signAttestation>[1]> = {}) =>
    signAttestation(keys, {
      identifier: { channel: 'email', value: 'ada@example.com', key: 'email:ada@example.com' } as never,
      verifiedAt: Date.now(),
      ttlSeconds: 300,
      registrar: vars.REGISTRAR_DID,
      ...change,
    });

  test('that a vault answered is good with its settings, not decided without, and its signature is not printed', async () => {
    const t = await startVault({}, { clock: testClock(Date.now()) });
    const who = { identifier: 'ada@example.com', channel: 'email' };
    await t.call('POST /api/verify/send', who);
    const { body } = await t.call('POST /api/verify/check', { ...who, code: t.codeFor(who.identifier) });
    await t.stop();
    keep('answer.json', body);
    const own = { ...vars, REGISTRAR_DID: body.attestation.registrar };
    const { code, out } = await verify(['answer.json'], own);
    expect([code, out]).toEqual([0, expect.stringContaining('✓ good: attestation. This vault signed it')]);
    expect(out).toContain('ada@example.com');
    expect(out).not.toContain(body.attestation.signature);
    expect(await judge(['answer.json'])).toMatchObject({ code: 3, kind: 'attestation', verdict: 'undecided' });
  });

  test.each([
    ['that ended', signed({ verifiedAt: Date.now() - 400_000 }), 'It ended at'],
    ['that was changed', { ...signed(), identifier: 'eve@example.com' }, 'No key of this vault signed it'],
    ['of another registrar', signed({ registrar: 'did:web:other.example' }), 'under another REGISTRAR_DID'],
    ['without an end', { ...signed(), expires_at: undefined }, 'A member is missing'],
  ])('%s is not good', async (_, attestation, finding) => {
    keep('a.json', attestation);
    expect(await judge(['a.json'], vars)).toMatchObject({ code: 1, finding: expect.stringContaining(finding) });
  });

  test('of a recovery says so', async () => {
    keep('a.json', signed({ purpose: 'recovery' }));
    expect(await judge(['a.json'], vars)).toMatchObject({ code: 0, facts: { purpose: 'recovery' } });
  });
});

describe('vault verify of a credential', () => {
  test('that a vault answered is good with the keys of its issuer, not decided without, and is not printed', async () => {
    const t = await startVault({}, { clock: testClock(Date.now()) });
    const credential = await credentialFor(t, await createHolder());
    const jwks = `${originOf(t)}/.well-known/jwt-vc-issuer`;
    keep('credential', credential);
    keep('answer.json', { ok: true, verified: true, credential });
    const good = await verify(['credential', '--jwks', jwks]);
    expect([good.code, good.out]).toEqual([0, expect.stringContaining('✓ good: credential. Its issuer signed it')]);
    expect(good.out).toMatch(/email +ada@example\.com\n/);
    for (const part of credential.split(/[.~]/).filter(Boolean)) expect(good.out).not.toContain(part);
    keep('keys.json', (await t.call('GET /.well-known/jwt-vc-issuer')).body);
    await t.stop();
    expect(await judge(['answer.json', '--jwks', 'keys.json'])).toMatchObject({ code: 0, kind: 'credential' });
    expect(await judge(['credential'])).toMatchObject({ code: 3, finding: expect.stringContaining(jwks) });
    keep('credential', credential.replace('~', '~WyJzIiwic3ViIiwieCJd~'));
    expect(await judge(['credential', '--jwks', 'keys.json'])).toMatchObject({ code: 1, verdict: 'not_good' });
    expect((await verify(['credential', '--jwks', 'none.json'])).code).toBe(1);
    keep('credential', credential);
    expect((await verify(['credential', '--jwks', 'none.json'])).code).toBe(2);
  });
});

describe('vault verify of a backup', () => {
  const made = async () => {
    expect((await run(['migrate'], { VAULT_SECRET })).code).toBe(0);
    expect((await run(['backup', 'a.backup'], { VAULT_SECRET })).code).toBe(0);
  };

  test('is good with the secret it was made under, not decided without, and not good with another', async () => {
    await made();
    const good = await verify(['a.backup'], { VAULT_SECRET });
    expect([good.code, good.out]).toEqual([
      0,
      expect.stringMatching(/^✓ good: backup\. .*schema +\d+\n.*rows +\d+ rows? in/s),
    ]);
    const elsewhere = { DATA_DIR: at('elsewhere') };
    expect(await judge(['a.backup'], elsewhere)).toMatchObject({ code: 3, verdict: 'undecided' });
    const other = { ...elsewhere, VAULT_SECRET: VAULT_SECRET.replace('00', 'ff') };
    expect(await judge(['a.backup'], other)).toMatchObject({
      code: 1,
      finding: expect.stringContaining('another VAULT_SECRET'),
    });
  });

  test('that is damaged at its beginning, in the middle or at its end is not good', async () => {
    await made();
    const bytes = readFileSync(at('a.backup'));
    const damaged = async (change: (copy: Buffer) => void) => {
      const copy = Buffer.from(bytes);
      change(copy);
      writeFileSync(at('b.backup'), copy);
      return (await judge(['b.backup'], { VAULT_SECRET })).code;
    };
    expect(await damaged((copy) => copy.fill(0, 0, 16))).toBe(1);
    expect(await damaged((copy) => copy.writeUInt8((copy.at(5_000) ?? 0) ^ 1, 5_000))).toBe(1);
    expect(await damaged((copy) => copy.writeUInt8((copy.at(-2) ?? 0) ^ 1, copy.length - 2))).toBe(1);
    copyFileSync(at('a.backup'), at('b.backup'));
    truncateSync(at('b.backup'), bytes.length - 1);
    expect((await judge(['b.backup'], { VAULT_SECRET })).code).toBe(1);
  });
});

describe('vault verify of a token', () => {
  test('is good as it was minted, and not good changed; its text is not printed', async () => {
    const { out: token } = await run(['token', 'mint', '--app', 'default'], { VAULT_SECRET });
    keep('token', token);
    const good = await verify(['token']);
    expect([good.code, good.out]).toEqual([0, expect.stringContaining('✓ good: token.')]);
    expect(good.out).not.toContain(token.trim());
    const place = token.length - 12;
    keep('token', token.slice(0, place) + (token[place] === 'A' ? 'B' : 'A') + token.slice(place + 1));
    expect([1, 2]).toContain((await verify(['token'])).code);
  });
});

describe('vault verify of anything else', () => {
  test('says what it takes', async () => {
    for (const text of ['', 'hello', '{}', '[]', '{"attestation":5}', '\u0000\u0001']) {
      keep('file', text);
      const { code, err } = await verify(['file']);
      expect([text, code]).toEqual([text, 2]);
      expect(err).toContain('the receipt of a payment');
    }
  });

  test('that is not there, a folder, or too large is invalid usage', async () => {
    keep('large', 'x'.repeat(1_000_000));
    for (const [name, words] of [
      ['none', 'cannot be read'],
      ['.', 'is not a file'],
      ['large', 'too large'],
    ] as const) {
      const { code, err } = await verify([name]);
      expect([name, code, err]).toEqual([name, 2, expect.stringContaining(words)]);
    }
    expect((await verify([])).code).toBe(2);
  });
});
