import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { AbiParameters, Hex, TypedData } from 'ox';
import { createPublicClient, http, type TypedDataDefinition } from 'viem';
import { APPROVAL_TYPE } from '../../client/approval-terms.ts';
import {
  type ApprovalAnswer,
  type ApprovalQuestion,
  type ApprovalRefusal,
  type ApprovalVerdict,
  type AskNode,
  NodeError,
  verifyApproval,
} from '../../client/approvals.ts';
import { compileContracts } from '../../scripts/contracts.ts';
import { passkeySigner } from '../../scripts/dev-stack/account2.ts';
import { startChain } from '../../scripts/dev-stack/chain.ts';
import { create2 } from '../../scripts/dev-stack/create2.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { openAccount, type SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { own, run } from '../support/account2.ts';
import { approve, approverPasskey, keyOf, questionOf, termsOf } from '../support/approvals.ts';
import { settled } from '../support/settled.ts';

const { rpc, url, stop } = await startChain();
afterAll(stop);
const viem = createPublicClient({ transport: http(url) });
const { FakePayer, KeyHolder } = await compileContracts();
let contracts: Awaited<ReturnType<typeof deployContracts>>;
beforeAll(async () => {
  contracts = await deployContracts(rpc, { entryPoint: '0.7' });
});

const open = (kind: 1 | 2, passkey = approverPasskey()) => openAccount(rpc, contracts, passkey, 0n, kind);
async function created(kind: 1 | 2): Promise<SmartAccount> {
  const account = await open(kind);
  await sendTransaction(rpc, devAccount('alice').privateKey, { to: account.factory, data: account.factoryData });
  await rpc('anvil_setBalance', [account.address, '0xde0b6b3a7640000']);
  return account;
}
const refused = (reason: ApprovalRefusal): ApprovalVerdict => ({ status: 'refused', reason });
/** The verdicts by the node and by the known key. */
async function both(answer: ApprovalAnswer, question: ApprovalQuestion, account: SmartAccount) {
  const offline = await verifyApproval(answer, { ...question, account: account.address }, keyOf(account));
  return [await verifyApproval(answer, question, url), offline];
}
const twice = (reason: ApprovalRefusal) => [refused(reason), refused(reason)];

describe.each([1, 2] as const)('an account of kind %d', (kind) => {
  let account: SmartAccount;
  let unborn: SmartAccount;
  let question: ReturnType<typeof questionOf>;
  beforeAll(async () => {
    [account, unborn, question] = [await created(kind), await open(kind), questionOf()];
  });

  test('approves a text, which its key shows offline and its contract by one eth_call', async () => {
    const answer = approve(account, question);
    const { did, id } = answer;
    const digest: string = expect.any(String);
    const approved: ApprovalVerdict = { status: 'approved', account: account.address, did, id, digest };
    expect(await both(answer, question, account)).toEqual([approved, approved]);
    expect(did).toBe(`did:pkh:eip155:84532:${account.address}`);
    const asked: string[] = [];
    const ask: AskNode = (method, params) => {
      asked.push(method);
      return rpc(method, params as unknown[]);
    };
    expect(await verifyApproval(answer, question, ask)).toEqual(approved);
    expect(asked.sort()).toEqual(['eth_call', 'eth_chainId', 'eth_getCode', 'eth_getStorageAt']);
  });

  test('approves before it exists (ERC-6492), and the same signature counts when it is there', async () => {
    const answer = approve(unborn, question, { isUnborn: true });
    const approved = { status: 'approved', account: unborn.address } as const;
    expect(await both(answer, question, unborn)).toMatchObject([approved, approved]);
    const later = await open(kind);
    const early = approve(later, question, { isUnborn: true });
    await sendTransaction(rpc, devAccount('alice').privateKey, { to: later.factory, data: later.factoryData });
    expect(await verifyApproval(early, question, url)).toMatchObject({ status: 'approved', account: later.address });
  });

  test('signs typed data that viem verifies as it is', async () => {
    for (const [of, isUnborn] of [
      [account, false],
      [unborn, true],
    ] as const) {
      const { signature } = approve(of, question, { isUnborn });
      const typed = typedOf(question, of);
      const about = { address: of.address, signature: signature as Hex.Hex };
      expect(await viem.verifyTypedData({ ...about, ...typed })).toBe(true);
      const other = { ...typed, message: { ...typed.message, text: 'Another' } };
      expect(await viem.verifyTypedData({ ...about, ...other })).toBe(false);
    }
  });

  test.each<[string, Partial<ApprovalQuestion>]>([
    ['text', { text: 'Pay out 250.01 EUR to Bob Example.\nPayout 17' }],
    ['end', { expires: new Date(Date.now() + 400_000).toISOString() }],
    ['app', { app: 'https://shop.example.com:8443' }],
    ['vault', { vault: 'https://other.example' }],
    ['id', { id: 'payout-18' }],
  ])('another %s than was approved is refused', async (_, other) => {
    expect(await both(approve(account, question), { ...question, ...other }, account)).toEqual(twice('other_terms'));
  });

  test('another chain or account than was asked is refused', async () => {
    const elsewhere = { ...question, chainId: 8453 };
    const offline = { ...question, account: account.address };
    expect(await verifyApproval(approve(account, elsewhere), offline, keyOf(account))).toEqual(refused('other_chain'));
    const renamed = { ...approve(account, elsewhere), chainId: 84532 };
    expect(await both(renamed, question, account)).toEqual(twice('other_terms'));
    const of = { ...question, account: unborn.address };
    expect(await verifyApproval(approve(account, question), of, url)).toEqual(refused('other_account'));
    const swapped = { ...approve(account, question), account: unborn.address };
    expect(await verifyApproval(swapped, of, keyOf(unborn))).toEqual(refused('other_terms'));
    expect(await settled(verifyApproval(approve(account, elsewhere), elsewhere, url))).toThrow(NodeError);
  });

  test('what has ended is refused, to the second', async () => {
    const expires = '2026-01-01T00:00:00Z';
    const past = questionOf({ expires });
    const answer = approve(account, past);
    expect(await both(answer, past, account)).toEqual(twice('expired'));
    const at = Date.parse(expires) / 1000;
    expect(await verifyApproval(answer, past, url, { at })).toMatchObject({ status: 'approved' });
    expect(await verifyApproval(answer, past, url, { at: at + 1 })).toEqual(refused('expired'));
  });

  test('the signature of another passkey is refused, born or not', async () => {
    const thief = approverPasskey();
    expect(await both(approve(account, question, { passkey: thief }), question, account)).toEqual(twice('other_key'));
    const early = approve(unborn, question, { passkey: thief, isUnborn: true });
    expect(await both(early, question, unborn)).toEqual(twice('other_key'));
    const own = await open(kind, thief);
    const forged = approve({ ...own, address: unborn.address }, question, { isUnborn: true });
    expect(await verifyApproval(forged, question, url)).toEqual(refused('other_account_code'));
  });

  test('what another page than the vault’s had signed is refused, and without the person verified', async () => {
    for (const ceremony of [{ origin: 'https://evil.vault.example.com' }, { clientData: { crossOrigin: true } }]) {
      expect(await both(approve(account, question, { ceremony }), question, account)).toEqual(twice('other_page'));
    }
    const present = approve(account, question, { ceremony: { flags: 1 } });
    expect(await both(present, question, account)).toEqual(twice('not_verified'));
  });

  test('an answer that is malformed, or a signature of other bytes, is refused', async () => {
    const answer = approve(account, question);
    for (const bad of [null, {}, { ...answer, signature: '0x' }, { ...answer, kind: 3 }, { ...answer, id: '' }])
      expect(await both(bad as ApprovalAnswer, question, account)).toEqual(twice('bad_answer'));
    const { signature } = answer;
    for (const wrong of [
      `${signature}00`,
      signature.slice(0, -2),
      `0x${'ab'.repeat(9_000)}`,
      `${signature}${'6492'.repeat(16)}`,
    ])
      expect(await both({ ...answer, signature: wrong }, question, account)).toEqual(twice('other_terms'));
    const otherKind = { ...answer, kind: kind === 1 ? 2 : 1 } as const;
    expect(await both(otherKind, question, account)).toEqual(twice('other_terms'));
  });
});

test('another key of an account approves until it is removed; offline, with the key alone, it still counts', async () => {
  const [account, phone, question] = [await created(2), approverPasskey(), questionOf()];
  const { x, y } = passkeySigner(phone, 1);
  await run(rpc, account, [own(account, 'addKey', x, y, Hex.padRight('0x', 32))]);
  const answer = approve(account, question, { passkey: phone, index: 1 });
  expect(await verifyApproval(answer, question, url)).toMatchObject({ status: 'approved', account: account.address });
  await run(rpc, account, [own(account, 'removeKey', 1n, x, y)]);
  expect(await verifyApproval(answer, question, url)).toEqual(refused('other_key'));
  const known = { ...question, account: account.address };
  expect(await verifyApproval(answer, known, keyOf({ passkey: phone }))).toMatchObject({ status: 'approved' });
});

test('a contract that shows somebody’s key and vouches for everything is refused', async () => {
  const [{ passkey }, question] = [await open(2), questionOf()];
  const { x, y } = passkeySigner(passkey);
  const args = AbiParameters.encode([{ type: 'uint256' }, { type: 'uint256' }], [x, y]);
  const address = await create2(rpc, Hex.concat(KeyHolder?.bytecode ?? '0x', args));
  for (const kind of [1, 2] as const) {
    const answer = approve({ ...(await open(kind)), passkey }, question, { as: { address, kind } });
    expect(await verifyApproval(answer, question, url)).toEqual(refused('other_account_code'));
  }
});

test('an account that was upgraded to a contract that vouches for everything is refused', async () => {
  const [account, question] = [await created(2), questionOf()];
  const fake = await create2(rpc, FakePayer?.bytecode ?? '0x');
  await run(rpc, account, [own(account, 'upgradeToAndCall', fake, '0x')]);
  const answer = approve(account, question, { passkey: approverPasskey() });
  expect(await verifyApproval(answer, question, url)).toEqual(refused('upgraded'));
});

test('a question that is malformed is a TypeError that names the member', async () => {
  const [account, question] = [await open(2), questionOf()];
  const answer = approve(account, question, { isUnborn: true });
  const wrong: readonly [Partial<Record<keyof ApprovalQuestion, unknown>>, string][] = [
    [{ vault: 'vault' }, 'approval.vault'],
    [{ app: undefined }, 'approval.app is missing'],
    [{ chainId: '84532' }, 'approval.chainId'],
    [{ text: 'a\u202eb' }, 'approval.text'],
    [{ expires: '2026-01-01T00:00' }, 'approval.expires'],
    [{ id: 'a b' }, 'approval.id'],
    [{ account: 'bob' }, 'approval.account'],
  ];
  for (const [part, says] of wrong)
    expect(await settled(verifyApproval(answer, { ...question, ...part } as ApprovalQuestion, url))).toThrow(says);
  expect(await settled(verifyApproval(answer, question, keyOf(account)))).toThrow('approval.account is missing');
  const of = { ...question, account: account.address };
  expect(await settled(verifyApproval(answer, of, { pubKeyX: '0x1', pubKeyY: '0x2' }))).toThrow('the key is malformed');
  expect(await settled(verifyApproval(answer, question, undefined as never))).toThrow('node is missing');
});

test('the example of docs/approvals.md pays out once', async () => {
  const text = await Bun.file(new URL('../../docs/approvals.md', import.meta.url)).text();
  const [code = ''] = Array.from(text.matchAll(/```js\n(import [\s\S]*?)```/g), ([, one = '']) => one);
  const [account, question] = [await open(2), questionOf({ id: 'payout-17' })];
  const person = { account: account.address, ...keyOf(account) };
  const [taken, paid] = [new Set<string>(), [] as number[]];
  const records = {
    payout: () => question,
    isFirst: (id: string) => !taken.has(id) && taken.add(id),
    payOut: (number: number) => paid.push(number),
  };
  const given = { verifyApproval, records, person, answer: approve(account, question, { isUnborn: true }) };
  const body = code.replace(/^import .*\n/, '');
  const run = new Function(...Object.keys(given), `return (async () => { ${body} })();`);
  for (let times = 0; times < 2; times++) await run(...Object.values(given));
  expect(paid).toEqual([17]);
});

/** The typed data as any library writes it. */
function typedOf(question: ApprovalQuestion & { readonly id: string }, { address }: SmartAccount) {
  const terms = termsOf(question);
  const typed = {
    domain: { name: 'Vault Approval', version: '1', chainId: question.chainId, verifyingContract: address },
    types: {
      VaultApproval: [
        ...['vault', 'app', 'id', 'text'].map((name) => ({ name, type: 'string' })),
        { name: 'expires', type: 'uint256' },
      ],
    },
    primaryType: 'VaultApproval',
    message: { ...terms, expires: BigInt(terms.expires) },
  } as const;
  expect(TypedData.encodeType(typed as never)).toBe(APPROVAL_TYPE);
  return typed satisfies TypedDataDefinition;
}
