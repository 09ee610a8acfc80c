// Where accounts do not keep to the rules of bundlers (ERC-7562), as docs/contracts.md says: exactly there.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import { openAccount, type SmartAccount, signOperation } from '../../scripts/dev-stack/user-operation.ts';
import { NODES } from '../support/account2.ts';
import { draftOf, handleOps } from '../support/operations.ts';
import { traceOf } from '../support/validation-rules.ts';

// Every account has a passkey of its own, so that one chain is enough for those of each node.
let chain: Chain;
let slow: Chain;
beforeAll(async () => {
  [chain, slow] = await Promise.all([startChain(), startChain(NODES['without it'])]);
});
afterAll(() => Promise.all([chain.stop(), slow.stop()]));

describe.each(['0.7', '0.8', '0.9'] as const)('under EntryPoint %s', (version) => {
  test('an account of kind 1 keeps to ERC-7562, but for its creation, which asks for a balance', async () => {
    const account = await open(chain, 1, version);
    expect(await brokenBy(chain, account)).toEqual(['SELFBALANCE']);
    await create(chain, account);
    expect(await brokenBy(chain, account)).toEqual([]);
  });

  test('an account of kind 2 keeps to ERC-7562', async () => {
    const account = await open(chain, 2, version);
    expect(await brokenBy(chain, account)).toEqual([]);
    await create(chain, account);
    expect(await brokenBy(chain, account)).toEqual([]);
  });
});

test.each([1, 2] as const)('without the P-256 precompile an account of kind %d calls its address', async (kind) => {
  const account = await open(slow, kind, '0.7');
  await create(slow, account);
  expect(await brokenBy(slow, account)).toEqual([
    'STATICCALL of 0x0000000000000000000000000000000000000100 without code',
  ]);
});

async function open({ rpc }: Chain, kind: 1 | 2, version: '0.7' | '0.8' | '0.9'): Promise<SmartAccount> {
  const contracts = await deployContracts(rpc, { entryPoint: version });
  const account = await openAccount(rpc, contracts, createPasskey(), 0n, kind);
  await rpc('anvil_setBalance', [account.address, Hex.fromNumber(10n ** 18n)]);
  return account;
}

/** The rules that the account breaks with its next operation. */
async function brokenBy({ rpc }: Chain, account: SmartAccount): Promise<readonly string[]> {
  const operation = await signOperation(rpc, account, await draftOf(rpc, account, []));
  return (await traceOf(rpc, account, operation)).broken;
}

async function create({ rpc }: Chain, account: SmartAccount): Promise<void> {
  const operation = await signOperation(rpc, account, await draftOf(rpc, account, []));
  await handleOps(rpc, account.entryPoint, operation);
}
