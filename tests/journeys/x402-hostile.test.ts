import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import { passkeySigner } from '../../scripts/dev-stack/account2.ts';
import type { Chain } from '../../scripts/dev-stack/chain.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import { openAccount, type SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { own, run } from '../support/account2.ts';
import { approve, questionOf } from '../support/approvals.ts';
import { createPayer, PAYEE } from '../support/payers.ts';
import {
  createAccount,
  FACILITATOR,
  type PaidWorld,
  type SignerOptions,
  signerOf,
  startPaidWorld,
  usdcOf,
} from '../support/x402.ts';
import { judge, paymentFor, payWith, type X402Payment } from '../tools/x402.ts';

// Payments that nobody signed, or not as they are sent, before the facilitator of docs/x402.md: packages from npm,
// unmodified. It refuses each before it sends anything, and the API gives nothing away.

const PRICE = 10_000n;
let chain: Chain;
let world: PaidWorld;
beforeAll(async () => {
  world = await startPaidWorld();
  chain = world.chain;
});
afterAll(() => world.stop());

const THIEF = '0x000000000000000000000000000000000000dEaD';
const create = (account: SmartAccount) => createAccount(chain, account);
const sent = () => chain.rpc('eth_getTransactionCount', [FACILITATOR.address, 'latest']);

/** A payment whose parts were changed after it was signed. */
interface Change {
  readonly signer?: SignerOptions;
  readonly authorization?: Readonly<Record<string, string>>;
  readonly requirements?: Readonly<Record<string, unknown>>;
  readonly accepted?: Readonly<Record<string, unknown>>;
}

function changed(payment: X402Payment, { authorization, requirements, accepted }: Change): X402Payment {
  const { paymentPayload: whole, paymentRequirements } = payment;
  const payload = {
    ...whole.payload,
    authorization: { ...(whole.payload['authorization'] as object), ...authorization },
  };
  return {
    paymentPayload: { ...whole, payload, accepted: { ...whole.accepted, ...accepted } },
    paymentRequirements: { ...paymentRequirements, ...requirements },
  };
}

const SIGNATURE = 'invalid_exact_evm_signature';
const SIMULATED = 'invalid_exact_evm_transaction_simulation_failed';
const AMOUNT = 'invalid_exact_evm_payload_authorization_value_mismatch';
const PAYEE_DIFFERS = 'invalid_exact_evm_recipient_mismatch';
const ENDED = 'invalid_exact_evm_payload_authorization_valid_before';
const EARLY = 'invalid_exact_evm_payload_authorization_valid_after';
const soon = (seconds: number) => `${Math.floor(Date.now() / 1000) + seconds}`;
const [PAST, LATER] = [{ validBefore: soon(-1) }, { validAfter: soon(9_000) }];
const mallory = createPasskey();

/** Each with the word for an account that exists, and for one that does not. */
const CHANGES: readonly (readonly [string, Change, string, string])[] = [
  ['a smaller amount', { authorization: { value: '1' } }, SIGNATURE, AMOUNT],
  [
    'a larger amount, of a price that says so too',
    { authorization: { value: '20000' }, requirements: { amount: '20000' } },
    SIGNATURE,
    SIMULATED,
  ],
  ['a price that is larger than what was signed', { requirements: { amount: '20000' } }, AMOUNT, AMOUNT],
  ['another payee', { authorization: { to: THIEF } }, SIGNATURE, PAYEE_DIFFERS],
  [
    'another payee, whom the price names too',
    { authorization: { to: THIEF }, requirements: { payTo: THIEF } },
    SIGNATURE,
    SIMULATED,
  ],
  ['a price of another payee', { requirements: { payTo: THIEF } }, PAYEE_DIFFERS, PAYEE_DIFFERS],
  ['another nonce', { authorization: { nonce: Hex.random(32) } }, SIGNATURE, SIMULATED],
  ['a later end', { authorization: { validBefore: soon(9_000) } }, SIGNATURE, SIMULATED],
  ['what was signed for another chain', { signer: { domain: { chainId: 8453 } } }, SIGNATURE, SIMULATED],
  ['what was signed for another token', { signer: { domain: { verifyingContract: THIEF } } }, SIGNATURE, SIMULATED],
  ['what an account on another chain signed', { signer: { bound: { chainId: 8453 } } }, SIGNATURE, SIMULATED],
  ['another account’s signature by the same passkey', { signer: { bound: { address: THIEF } } }, SIGNATURE, SIMULATED],
  ['another passkey’s signature', { signer: { passkey: mallory } }, SIGNATURE, SIMULATED],
  [
    'the other chain’s price',
    { accepted: { network: 'eip155:8453' } },
    'invalid_exact_evm_network_mismatch',
    'invalid_exact_evm_network_mismatch',
  ],
  ['what has ended', { signer: { message: PAST }, authorization: PAST }, ENDED, ENDED],
  ['what begins later', { signer: { message: LATER }, authorization: LATER }, EARLY, EARLY],
];

describe.each([1, 2] as const)('an account of kind %d', (kind) => {
  let account: SmartAccount;
  let unborn: SmartAccount;
  beforeAll(async () => {
    [account, unborn] = [await createPayer(chain.rpc, kind), await createPayer(chain.rpc, kind)];
    await create(account);
  });

  /** Has the facilitator judge a payment; nothing moves, and nothing is sent. */
  async function refuse(of: SmartAccount, payment: X402Payment) {
    const state = async () => [await usdcOf(chain.rpc, of.address), await usdcOf(chain.rpc, PAYEE), await sent()];
    const before = await state();
    const { verified, settled } = await judge(world.facilitator, payment);
    expect([verified.isValid, settled.success, settled.transaction]).toEqual([false, false, '']);
    expect(await state()).toEqual(before);
    return [verified.invalidReason, settled.errorReason];
  }

  test.each(CHANGES)('is not charged for %s', async (_, change, word, wordUnborn) => {
    for (const [of, isUnborn, expected] of [
      [account, false, word],
      [unborn, true, wordUnborn],
    ] as const) {
      const payment = changed(await paymentFor(world.weather, signerOf(of, { ...change.signer, isUnborn })), change);
      expect(await refuse(of, payment)).toEqual([expected, expected]);
      // The API has a price of its own, for which such a payment may be good.
      if (change.requirements) continue;
      const answer = await payWith(world.weather, payment);
      expect([answer.status, await answer.text()]).toEqual([402, '{}']);
    }
  });

  test('is not charged for a text that its passkey approved', async () => {
    const payment = await paymentFor(world.weather, signerOf(account));
    const { signature } = approve(account, questionOf());
    const payload = { ...payment.paymentPayload.payload, signature };
    expect(await refuse(account, { ...payment, paymentPayload: { ...payment.paymentPayload, payload } })).toEqual([
      SIGNATURE,
      SIGNATURE,
    ]);
  });

  test('is charged once for a payment that is sent again, one after the other or at once', async () => {
    for (const of of [account, unborn]) {
      const payment = await paymentFor(world.weather, signerOf(of, { isUnborn: of === unborn }));
      const [owned, earned] = [await usdcOf(chain.rpc, of.address), await usdcOf(chain.rpc, PAYEE)];
      const answers = await Promise.all([1, 2, 3, 4].map(() => payWith(world.weather, payment)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 402, 402, 402]);
      expect((await payWith(world.weather, payment)).status).toBe(402);
      expect(owned - (await usdcOf(chain.rpc, of.address))).toBe(PRICE);
      expect((await usdcOf(chain.rpc, PAYEE)) - earned).toBe(PRICE);
      expect((await refuse(of, payment))[0]).toBe('invalid_exact_evm_nonce_already_used');
    }
  });

  test('is created by the vault’s factories alone, and only for its own payment', async () => {
    const newcomer = await createPayer(chain.rpc, kind);
    const theirs = await openAccount(chain.rpc, await deployContracts(chain.rpc), mallory, 0n, kind);
    const cases: readonly (readonly [SignerOptions, string])[] = [
      [{ factory: THIEF }, 'eip6492_factory_not_allowed'],
      [{ factoryData: theirs.factoryData }, SIMULATED],
      [{ factoryData: theirs.factoryData, passkey: mallory }, SIMULATED],
      [{ passkey: mallory }, SIMULATED],
    ];
    for (const [options, word] of cases) {
      const payment = await paymentFor(world.weather, signerOf(newcomer, { ...options, isUnborn: true }));
      expect(await refuse(newcomer, payment)).toEqual([word, word]);
    }
    expect(await chain.rpc('eth_getCode', [newcomer.address, 'latest'])).toBe('0x');
  });

  test('without the money is not served', async () => {
    const poor = await openAccount(chain.rpc, await deployContracts(chain.rpc), createPasskey(), 0n, kind);
    await create(poor);
    const payment = await paymentFor(world.weather, signerOf(poor));
    expect((await refuse(poor, payment))[0]).toBe('invalid_exact_evm_insufficient_balance');
    expect((await payWith(world.weather, payment)).status).toBe(402);
  });
});

test('a contract that vouches for everything pays with its own money alone', async () => {
  const account = await createPayer(chain.rpc, 1);
  await create(account);
  const contract = '0xfa4efa4efa4efa4efa4efa4efa4efa4efa4efa4e';
  // Answers each call with isValidSignature's word (ERC-1271).
  await chain.rpc('anvil_setCode', [contract, '0x631626ba7e60e01b60005260206000f3']);
  const payment = await paymentFor(world.weather, signerOf(account, { address: contract }));
  const owned = await usdcOf(chain.rpc, account.address);
  const { verified } = await judge(world.facilitator, payment);
  expect(verified.invalidReason).toBe('invalid_exact_evm_insufficient_balance');
  expect((await payWith(world.weather, payment)).status).toBe(402);
  expect(await usdcOf(chain.rpc, account.address)).toBe(owned);
});

test('a key that an account has removed no longer pays with what it signed before', async () => {
  const account = await createPayer(chain.rpc, 2);
  await create(account);
  const early = await paymentFor(world.weather, signerOf(account));
  const { x, y } = passkeySigner(account.passkey);
  const next = passkeySigner(createPasskey(), 1);
  await run(chain.rpc, account, [own(account, 'addKey', next.x, next.y, Hex.padRight('0x', 32))]);
  await run(chain.rpc, account, [own(account, 'removeKey', 0, x, y)], { signer: next });
  const owned = await usdcOf(chain.rpc, account.address);
  expect((await payWith(world.weather, early)).status).toBe(402);
  expect((await judge(world.facilitator, early)).verified.invalidReason).toBe(SIGNATURE);
  expect(await usdcOf(chain.rpc, account.address)).toBe(owned);
});

test('the facilitator sends one transaction for a payment that comes many times before a block', async () => {
  const account = await createPayer(chain.rpc, 2);
  await create(account);
  const payment = await paymentFor(world.weather, signerOf(account));
  const before = Number(await sent());
  // As on a public chain: what is sent is in no block for a while.
  await chain.rpc('evm_setIntervalMining', [1]);
  const answers = await Promise.all([1, 2, 3, 4, 5].map(() => payWith(world.weather, payment)));
  await chain.rpc('evm_setAutomine', [true]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 402, 402, 402, 402]);
  expect(Number(await sent()) - before).toBe(1);
});

test('ten people pay at the same time', async () => {
  const people = [];
  for (let i = 0; i < 10; i++) people.push(await createPayer(chain.rpc, i % 2 === 0 ? 1 : 2));
  const payments = await Promise.all(people.map((one) => paymentFor(world.weather, signerOf(one, { isUnborn: true }))));
  const earned = await usdcOf(chain.rpc, PAYEE);
  const answers = await Promise.all(payments.map((payment) => payWith(world.weather, payment)));
  expect(answers.map(({ status }) => status)).toEqual(people.map(() => 200));
  expect((await usdcOf(chain.rpc, PAYEE)) - earned).toBe(10n * PRICE);
});
