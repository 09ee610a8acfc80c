import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { MINUTE_MS } from '../../lib/base/clock.ts';
import { mintUsdc } from '../../scripts/dev-stack/usdc.ts';
import type { SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { createdAccount2 } from '../support/account2.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type Draw, openDraw } from '../support/draw.ts';
import { type Liar, startLiar } from '../support/liar.ts';
import { isLong } from '../support/long.ts';
import { handleOps } from '../support/operations.ts';
import { freshNonce, type OrderTerms, paymentCall, signedOperation } from '../support/payment-operations.ts';
import { SEED } from '../support/seed.ts';
import { ETHER, openPayments, type SettlingWorld, settledEvents, startSettling, TEA } from '../support/settling.ts';
import { echo, errorOf } from '../support/upstream.ts';
import type { TestVault } from '../support/vault.ts';

const PAYMENTS = isLong ? 200 : 24;
/** Of one account, so that none has more open ones than are watched. */
const PAYMENTS_EACH = 8;
/** Of a thousand calls of the node. */
const FAULTS = 150;
/** Of an honest node, before the end. */
const LOOKS_MAX = 60;

let world: SettlingWorld;
let accounts: SmartAccount[];
beforeAll(async () => {
  world = await startSettling();
  accounts = [];
  for (let i = 0; i < PAYMENTS / PAYMENTS_EACH; i++) accounts.push(await createdAccount2(world.rpc));
  for (const { address } of accounts) await mintUsdc(world.rpc, address, 10n ** 12n);
  await world.mine();
});
afterAll(() => world.stop());

type Signed = Awaited<ReturnType<typeof signedOperation>>;

/** What becomes of a payment: the operation that is handled, if one is, and whether it pays. */
interface Fate {
  readonly name: string;
  readonly handled: Signed | undefined;
  readonly pays: boolean;
}

/** A payment that a bundler refuses is not watched, also where it is handled all the same. */
type Watched = Fate & { readonly isRefused: boolean };

async function fateOf(draw: Draw, account: SmartAccount, terms: OrderTerms, sent: Signed): Promise<Fate> {
  const again = (calls = [paymentCall(terms)]) =>
    signedOperation(world.rpc, account, sent.operation.nonce, calls, { preVerificationGas: 70_000n });
  switch (draw.below(6)) {
    case 0:
      return { name: 'never', handled: undefined, pays: false };
    case 1:
      return { name: 'void', handled: await again([]), pays: false };
    case 2:
      return { name: 'reverts', handled: await again([paymentCall({ ...terms, amount: 10n ** 30n })]), pays: false };
    case 3:
      return { name: 're-priced', handled: await again(), pays: true };
    default:
      return { name: 'paid', handled: sent, pays: true };
  }
}

describe('two vaults on one database, over a node that fails by a seed, and re-orgs', () => {
  let node: Liar;
  let vaults: readonly [TestVault, TestVault];
  const folder = temporaryFolder();
  beforeAll(async () => {
    node = startLiar({ target: world.chain.url, seed: SEED, rate: FAULTS });
    const start = () => world.start({ RPC_URL: node.url }, { dir: folder.path });
    vaults = [await start(), await start()];
  });
  afterAll(async () => {
    await Promise.all(vaults.map((vault) => vault.stop()));
    await node.stop();
    folder.remove();
  });

  const lookBoth = async (ms: number) => {
    for (const vault of vaults) await vault.clock.advance(ms);
    await Promise.all(vaults.map((vault) => vault.work()));
  };

  test(`${PAYMENTS} payments: one event for each watched one that moved its money, and none for another`, async () => {
    const draw = openDraw(SEED);
    const fates = new Map<string, Watched>();
    /** Handled in blocks that a re-org may take back. */
    let fresh: { account: SmartAccount; signed: Signed }[] = [];
    for (let i = 0; i < PAYMENTS; i++) {
      const account = accounts[i % accounts.length] as SmartAccount;
      const terms = draw.below(3) === 0 ? ETHER : TEA;
      const sent = await signedOperation(world.rpc, account, freshNonce(), [paymentCall(terms)]);
      const fate = await fateOf(draw, account, terms, sent);
      const word = draw.below(3);
      const isRefused = word === 0;
      fates.set(`0x${sent.operation.nonce.toString(16)}`, { ...fate, isRefused });
      world.bundler.answer = (call, request) =>
        isRefused
          ? errorOf(call, { code: -32603, message: 'no' })
          : word === 1
            ? new Response('', { status: 503 })
            : echo(call, request);
      await world.post(vaults[i % 2] as TestVault, sent.operation, `203.0.113.${i % 250}`);
      if (fate.handled) {
        await handleOps(world.rpc, account.entryPoint, fate.handled.operation);
        fresh.push({ account, signed: fate.handled });
      }
      if (draw.below(4) === 0 && fresh.length > 0) {
        // What was in the newest block is not there any more, and is handled again.
        await world.rpc('anvil_reorg', [1, []]);
        await lookBoth(2_000);
        const last = fresh.at(-1);
        const isGone = last && !(await isHandled(last.account, last.signed));
        if (last && isGone) await handleOps(world.rpc, last.account.entryPoint, last.signed.operation);
      }
      if (draw.below(2) === 0) await lookBoth(1_000 * (1 + draw.below(20)));
      if (draw.below(5) === 0) {
        await world.mine();
        fresh = [];
      }
    }
    await world.mine();
    for (let looks = 0; looks < 3; looks++) await lookBoth(MINUTE_MS);
    node.rate = 0;
    const watched = [...fates].filter(([, { isRefused }]) => !isRefused);
    // What never was included is watched until what was signed ends.
    const never = watched.filter(([, { name }]) => name === 'never').length;
    // After many faults the vault asks for one block at a time, and for twice as many after sixteen answers.
    for (let looks = 0; looks < LOOKS_MAX && (await openPayments(vaults[0])) > never; looks++)
      await lookBoth(5 * MINUTE_MS);
    const told = (await settledEvents(vaults[0])).map(({ nonce, user_op_hash }) => `${nonce} ${user_op_hash}`);
    const paid = watched.flatMap(([nonce, { pays, handled }]) => (pays ? [`${nonce} ${handled?.userOpHash}`] : []));
    expect({ SEED, told: told.toSorted() }).toEqual({ SEED, told: paid.toSorted() });
    expect({ SEED, open: await openPayments(vaults[1]) }).toEqual({ SEED, open: never });
    expect(node.tally.lost ?? 0).toBeGreaterThan(0);
  });

  async function isHandled({ entryPoint }: SmartAccount, { operation }: Signed): Promise<boolean> {
    const key = (operation.nonce >> 64n).toString(16).padStart(64, '0');
    const data = `0x35567e1a${operation.sender.slice(2).toLowerCase().padStart(64, '0')}${key}`;
    return BigInt((await world.rpc('eth_call', [{ to: entryPoint, data }, 'latest'])) as string) > operation.nonce;
  }
});
