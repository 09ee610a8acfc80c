// Where accounts do not keep to the rules of bundlers (ERC-7562), as docs/contracts.md says: exactly there.
import { afterEach, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import { openAccount, type SmartAccount, signOperation } from '../../scripts/dev-stack/user-operation.ts';
import { NODES } from '../support/account2.ts';
import { draftOf, handleOps } from '../support/operations.ts';
import { traceOf } from '../support/validation-rules.ts';

let chain: Chain;
afterEach(() => chain.stop());

describe.each(['0.7', '0.8', '0.9'] as const)('under EntryPoint %s', (version) => {
  test('an account of kind 1 keeps to ERC-7562, but for its creation, which asks for a balance', async () => {
    chain = await startChain();
    const account = await open(1, version);
    expect(await brokenBy(account)).toEqual(['SELFBALANCE']);
    await create(account);
    expect(await brokenBy(account)).toEqual([]);
  });

  test('an account of kind 2 keeps to ERC-7562', async () => {
    chain = await startChain();
    const account = await open(2, version);
    expect(await brokenBy(account)).toEqual([]);
    await create(account);
    expect(await brokenBy(account)).toEqual([]);
  });
});

test.each([1, 2] as const)('without the P-256 precompile an account of kind %d calls its address', async (kind) => {
  chain = await startChain(NODES['without it']);
  const account = await open(kind, '0.7');
  await create(account);
  expect(await brokenBy(account)).toEqual(['STATICCALL of 0x0000000000000000000000000000000000000100 without code']);
});

async function open(kind: 1 | 2, version: '0.7' | '0.8' | '0.9'): Promise<SmartAccount> {
  const contracts = await deployContracts(chain.rpc, { entryPoint: version });
  const account = await openAccount(chain.rpc, contracts, createPasskey(), 0n, kind);
  await chain.rpc('anvil_setBalance', [account.address, Hex.fromNumber(10n ** 18n)]);
  return account;
}

/** The rules that the account breaks with its next operation. */
async function brokenBy(account: SmartAccount): Promise<readonly string[]> {
  const operation = await signOperation(chain.rpc, account, await draftOf(chain.rpc, account, []));
  return (await traceOf(chain.rpc, account, operation)).broken;
}

async function create(account: SmartAccount): Promise<void> {
  const operation = await signOperation(chain.rpc, account, await draftOf(chain.rpc, account, []));
  await handleOps(chain.rpc, account.entryPoint, operation);
}
