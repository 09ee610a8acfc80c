// The small EVM of the invariants against a real node: the same calls of the same code at the same addresses.
import { expect, test } from 'bun:test';
import { Hex } from 'ox';
import creationCode from '../../../contracts/creation-code.json' with { type: 'json' };
import { type ChainRpc, startChain } from '../../../scripts/dev-stack/chain.ts';
import { type Book, isAllowed, newBook, write } from '../../support/account-walk/book.ts';
import { callOf, drawStep, take } from '../../support/account-walk/steps.ts';
import { openFactory, openWorld, PEOPLE, START, type World } from '../../support/account-walk/world.ts';
import { openDraw } from '../../support/draw.ts';
import type { Log } from '../../support/evm/machine.ts';
import { SEED } from '../../support/seed.ts';

const STEPS = 250;
const GAS = '0x2dc6c0';

test.each([
  ['that gathers keys', 0],
  ['that adds and removes them', 1],
] as const)('with an account %s the small EVM ends, logs and stores as the node does', async (_, salt) => {
  const { rpc, stop } = await startChain();
  try {
    const world = openWorld(openFactory(creationCode.AccountFactory2 as Hex.Hex), salt);
    await copyTo(rpc, world);
    const draw = openDraw(SEED + salt);
    let book = newBook(START, salt === 0);
    for (let i = 0; i < STEPS; i++) {
      const step = drawStep(draw, book);
      if (step.kind === 'wait') {
        book = write(book, step);
        continue;
      }
      // No two blocks of a second.
      book = write(book, { kind: 'wait', seconds: 1 });
      world.chain.state.time = BigInt(book.now);
      const { by, data } = callOf(world, step);
      const { ok, logs } = take(world, step);
      const expected = await mine(rpc, by, world.account, data, book);
      const own: unknown = { seed: SEED, step, ok, logs: ok ? logs.map(readable) : [] };
      expect(own).toEqual({ seed: SEED, step, ...expected });
      if (ok && isAllowed(book, step)) book = write(book, step);
    }
    await expectSameStorage(rpc, world);
  } finally {
    await stop();
  }
});

/** Puts the small chain's contracts on the node, and lets it send for everybody. */
async function copyTo(node: ChainRpc, { chain, account }: World): Promise<void> {
  for (const [address, { code }] of chain.state.contracts) {
    await node('anvil_setCode', [toAddress(address), Hex.fromBytes(code.bytes)]);
  }
  for (const person of [...Object.values(PEOPLE), account]) {
    if (person === 0n) continue;
    await node('anvil_setBalance', [toAddress(person), '0x56bc75e2d63100000']);
    await node('anvil_impersonateAccount', [toAddress(person)]);
  }
}

async function mine(node: ChainRpc, by: bigint, to: bigint, data: Uint8Array, { now }: Book) {
  await node('evm_setNextBlockTimestamp', [now]);
  const transaction = { from: toAddress(by), to: toAddress(to), data: Hex.fromBytes(data), gas: GAS };
  const hash = await node('eth_sendTransaction', [transaction]);
  const { status, logs } = await receiptOf(node, hash);
  return { ok: status === '0x1', logs: logs.map(({ address, topics, data: own }) => ({ address, topics, data: own })) };
}

interface Receipt {
  readonly status: Hex.Hex;
  readonly logs: readonly { address: Hex.Hex; topics: readonly Hex.Hex[]; data: Hex.Hex }[];
}

/** The node answers a transaction before it is mined. */
async function receiptOf(node: ChainRpc, hash: unknown): Promise<Receipt> {
  const receipt = (await node('eth_getTransactionReceipt', [hash])) as Receipt | null;
  if (receipt) return receipt;
  await Bun.sleep(2);
  return receiptOf(node, hash);
}

function readable({ address, topics, data }: Log) {
  const words = topics.map((topic) => Hex.fromNumber(topic, { size: 32 }));
  return { address: toAddress(address), topics: words, data: Hex.fromBytes(data) };
}

async function expectSameStorage(node: ChainRpc, { chain, account }: World): Promise<void> {
  const storage = chain.state.contracts.get(account)?.storage ?? new Map<bigint, bigint>();
  expect(storage.size).toBeGreaterThan(2);
  for (const [slot, value] of storage) {
    const stored = await node('eth_getStorageAt', [toAddress(account), Hex.fromNumber(slot, { size: 32 }), 'latest']);
    expect(BigInt(stored as string)).toBe(value);
  }
}

function toAddress(address: bigint): Hex.Hex {
  return Hex.fromNumber(address, { size: 20 });
}
