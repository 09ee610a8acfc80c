import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import Simple7702 from '@account-abstraction/contracts/artifacts/Simple7702Account.json';
import { AbiFunction, Hex } from 'ox';
import { createPublicClient, http } from 'viem';
import { createBundlerClient, toSimple7702SmartAccount } from 'viem/account-abstraction';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import { didRegistryAbi } from '../../contracts/abi.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { didHash } from '../../lib/identity/did.ts';
import { type Chain, type ChainRpc, connectChain, startChain } from '../../scripts/dev-stack/chain.ts';
import { create2 } from '../../scripts/dev-stack/create2.ts';
import { type Deployment, deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { ENTRY_POINTS } from '../../scripts/dev-stack/entrypoints.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import * as wallet from '../../scripts/dev-stack/user-operation.ts';

import { LOCAL_MONEY, type SponsoredBundler, startSponsoredBundler } from '../support/bundler.ts';
import { chainVars } from '../support/chain-vars.ts';
import { freshNonce, type OrderTerms, paymentCall } from '../support/payment-operations.ts';
import { until } from '../support/until.ts';
import { startVault, type TestVault } from '../support/vault.ts';

let chain: Chain;
let contracts: Deployment;
let sponsored: SponsoredBundler;
let t: TestVault;
/** The vault's proxy, asked as a wallet asks a bundler. */
let bundler: ChainRpc;
beforeAll(async () => {
  chain = await startChain();
  contracts = await deployContracts(chain.rpc);
  sponsored = await startSponsoredBundler(chain);
  const clock = { ...systemClock, advance: () => Promise.reject(new Error('this clock is real')) };
  const vars = {
    ...chainVars(chain.url, contracts),
    BUNDLER_URL: sponsored.url,
    ...LOCAL_MONEY,
    RATE_LIMIT_PROXY_PER_IP: '100000',
  };
  t = await startVault(vars, { clock });
  bundler = connectChain(`${t.url}/api/bundler`);
});
afterAll(async () => {
  await t.stop();
  await sponsored.stop();
  await chain.stop();
});

const openAccount = () => wallet.openAccount(chain.rpc, contracts, createPasskey());

/** An account that pays for itself. */
async function openRichAccount(): Promise<wallet.SmartAccount> {
  const account = await openAccount();
  await chain.rpc('anvil_setBalance', [account.address, '0xde0b6b3a7640000']);
  return account;
}

/** The error behind a refused call, as it is on the wire. */
async function refusal(
  call: Promise<unknown>,
): Promise<{ code: number; message: string; data: Record<string, unknown> }> {
  return call.then(
    () => Promise.reject(new Error('it was not refused')),
    ({ cause }) => cause,
  );
}

test('a passkey without any ether registers its DID through vault, bundler and paymaster, and goes on with its account', async () => {
  const account = await openAccount();
  const predicted = await t.call('GET /api/accounts/predict', {
    pubKeyX: Hex.fromBytes(account.passkey.key.x),
    pubKeyY: Hex.fromBytes(account.passkey.key.y),
  });
  expect(predicted.body).toEqual({ address: account.address });
  const hash = didHash(`did:example:${account.address}`);
  const data = AbiFunction.encodeData(AbiFunction.fromAbi(didRegistryAbi, 'register'), [
    hash,
    Hex.padLeft('0x', 32),
    '',
  ]);
  const first = await wallet.runSponsored(chain.rpc, bundler, account, [{ target: contracts.didRegistry, data }]);
  expect(first.success).toBe(true);
  // The account is there now: the sponsor is asked for it without a factory.
  const update = AbiFunction.encodeData(AbiFunction.fromAbi(didRegistryAbi, 'update'), [hash, 'cid']);
  const second = await wallet.runSponsored(chain.rpc, bundler, account, [
    { target: contracts.didRegistry, data: update },
  ]);
  expect(second.success).toBe(true);
  const state = await t.call('GET /api/accounts/state', { account: account.address });
  expect(state.body).toMatchObject({ nonce: '0x2', did: hash, isActive: true });
  const balance = await t.call('GET /api/balance', { account: account.address, token: 'ETH', chainId: '84532' });
  expect(balance.body.balance).toBe('0');
});

test('a payment through vault and bundler is payment.settled, by what the chain shows', async () => {
  const account = await openRichAccount();
  // Never the account's own, whatever its key is.
  const stranger = `0x${(BigInt(account.address) ^ 1n).toString(16).padStart(40, '0')}`;
  const [terms, nonce] = [{ to: stranger, token: 'native', amount: 1_000n }, freshNonce()];
  const calls = [paymentCall(terms as OrderTerms)];
  const estimated = await wallet.prepareOperation(chain.rpc, account, calls);
  const operation = { ...estimated, nonce, preVerificationGas: 100_000n, callGasLimit: 200_000n };
  const signed = await wallet.signOperation(chain.rpc, account, operation);
  const { success, userOpHash, receipt } = await wallet.sendOperation(bundler, account, signed);
  expect(success).toBe(true);
  const settled = () => t.rows("SELECT data FROM events WHERE type = 'payment.settled'");
  await until('the payment is settled', async () => {
    await t.work();
    return (await settled()).length > 0;
  });
  expect((await settled()).map(({ data }) => JSON.parse(String(data)))).toMatchObject([
    {
      account: account.address.toLowerCase(),
      to: terms.to.toLowerCase(),
      amount: '1000',
      user_op_hash: userOpHash,
      tx_hash: receipt.transactionHash,
      nonce: Hex.fromNumber(nonce),
    },
  ]);
});

describe('every method on the list, answered by a real bundler', () => {
  test('eth_chainId and eth_supportedEntryPoints', async () => {
    expect(await bundler('eth_chainId')).toBe('0x14a34');
    expect(await bundler('eth_supportedEntryPoints')).toContain(contracts.entryPoint);
  });

  test('pm_getPaymasterStubData, eth_estimateUserOperationGas, pm_getPaymasterData, eth_sendUserOperation, and both look-ups', async () => {
    const account = await openAccount();
    const { entryPoint } = account;
    let operation = await wallet.prepareOperation(chain.rpc, account, [{ target: account.address }]);
    const about = (more: readonly unknown[] = []) => [wallet.toRpc(operation), entryPoint, ...more];
    const quantities = (answer: unknown) =>
      Object.fromEntries(
        Object.entries(answer as Record<string, Hex.Hex>)
          .filter(([name]) => /Gas|Limit/.test(name))
          .map(([name, value]) => [name, BigInt(value)]),
      );
    const of = (answer: unknown) => {
      const { paymaster, paymasterData } = answer as Pick<wallet.Operation, 'paymaster' | 'paymasterData'>;
      return { paymaster, paymasterData } as Pick<wallet.Operation, 'paymaster' | 'paymasterData'>;
    };
    const stub = await bundler('pm_getPaymasterStubData', about(['0x14a34', {}]));
    operation = { ...operation, ...of(stub), ...quantities(stub) } as wallet.Operation;
    const estimate = quantities(await bundler('eth_estimateUserOperationGas', about()));
    const { callGasLimit = 0n, preVerificationGas = 0n } = estimate;
    operation = { ...operation, callGasLimit: callGasLimit + 50_000n, preVerificationGas };
    operation = {
      ...operation,
      ...of(await bundler('pm_getPaymasterData', about(['0x14a34', {}]))),
    } as wallet.Operation;
    const receipt = await wallet.sendOperation(
      bundler,
      account,
      await wallet.signOperation(chain.rpc, account, operation),
    );
    expect(receipt.success).toBe(true);
    const found = await bundler('eth_getUserOperationByHash', [receipt.userOpHash]);
    expect(found).toMatchObject({ entryPoint, transactionHash: receipt.receipt.transactionHash });
    // One user operation was sponsored, whatever it took to ask for it.
    expect(
      await t.rows('SELECT sender FROM sponsorships WHERE sender = :sender', { sender: account.address.toLowerCase() }),
    ).toHaveLength(1);
  });

  test('an unknown hash is null', async () => {
    const unknown = `0x${'ab'.repeat(32)}`;
    expect(await bundler('eth_getUserOperationByHash', [unknown])).toBeNull();
    expect(await bundler('eth_getUserOperationReceipt', [unknown])).toBeNull();
  });
});

describe('an address that is delegated by EIP-7702, with viem’s own account', () => {
  test('is created and used by its first user operation', async () => {
    const vars = { ...chainVars(chain.url, contracts), ENTRY_POINT_ADDRESS: ENTRY_POINTS['0.8'] };
    const own = await startVault({
      ...vars,
      BUNDLER_URL: sponsored.url,
      ...LOCAL_MONEY,
      RATE_LIMIT_PROXY_PER_IP: '100000',
    });
    const owner = privateKeyToAccount(generatePrivateKey());
    await chain.rpc('anvil_setBalance', [owner.address, '0xde0b6b3a7640000']);
    const node = createPublicClient({ chain: baseSepolia, transport: http(chain.url), pollingInterval: 50 });
    const account = await toSimple7702SmartAccount({
      client: node,
      owner,
      implementation: await create2(chain.rpc, Simple7702.bytecode as Hex.Hex),
    });
    const transport = http(`${own.url}/api/bundler`);
    const client = createBundlerClient({ account, client: node, transport, pollingInterval: 50 });
    const { address, authorization } = account;
    const signed = await owner.signAuthorization({ ...authorization, chainId: 84532, nonce: 0 });
    const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n };
    const to = contracts.didRegistry;
    const first = await client.sendUserOperation({ calls: [{ to: address }], authorization: signed, ...fees });
    expect((await client.waitForUserOperationReceipt({ hash: first })).success).toBe(true);
    expect(await node.getCode({ address })).toBe(
      Hex.concat('0xef0100', authorization.address).toLowerCase() as Hex.Hex,
    );
    const data = AbiFunction.encodeData(AbiFunction.fromAbi(didRegistryAbi, 'register'), [
      didHash(`did:example:${address}`),
      Hex.padLeft('0x', 32),
      '',
    ]);
    const second = await client.sendUserOperation({ calls: [{ to, data }], ...fees });
    expect((await client.waitForUserOperationReceipt({ hash: second })).success).toBe(true);
    await own.stop();
  });
});

describe("the bundler's refusals", () => {
  test.each<[string, (operation: wallet.Operation) => wallet.Operation, number, string, string]>([
    ['a nonce that is not next', (one) => ({ ...one, nonce: 5n }), -32500, 'entrypoint_rejected', 'AA25'],
    ['an account that nobody creates', withoutFactory, -32500, 'entrypoint_rejected', 'AA20'],
    ['an account that cannot pay', asItIs, -32500, 'entrypoint_rejected', 'AA21'],
  ])('%s', async (_, change, code, kind, aa) => {
    const account = await (change === asItIs ? openAccount() : openRichAccount());
    const prepared = await wallet.prepareOperation(chain.rpc, account, [{ target: account.address }]);
    const operation = await wallet.signOperation(chain.rpc, account, {
      ...change(prepared),
      preVerificationGas: 100_000n,
    });
    const error = await refusal(bundler('eth_sendUserOperation', [wallet.toRpc(operation), contracts.entryPoint]));
    expect(error).toMatchObject({ code, data: { kind, aa } });
  });

  test("another passkey's signature", async () => {
    const account = await openAccount();
    const prepared = await wallet.prepareOperation(chain.rpc, account, [{ target: account.address }]);
    const operation = await wallet.sponsorOperation(bundler, account, prepared);
    const signed = await wallet.signOperation(chain.rpc, account, operation, createPasskey());
    const error = await refusal(bundler('eth_sendUserOperation', [wallet.toRpc(signed), contracts.entryPoint]));
    expect(error).toMatchObject({ code: -32507, data: { kind: 'signature_invalid', aa: 'AA24' } });
  });

  test('an operation that was changed after the paymaster agreed', async () => {
    const account = await openAccount();
    const prepared = await wallet.prepareOperation(chain.rpc, account, [{ target: account.address }]);
    const agreed = await wallet.sponsorOperation(bundler, account, prepared);
    const changed = { ...agreed, callGasLimit: agreed.callGasLimit + 1n };
    const signed = await wallet.signOperation(chain.rpc, account, changed);
    const error = await refusal(bundler('eth_sendUserOperation', [wallet.toRpc(signed), contracts.entryPoint]));
    expect(error.data).toMatchObject({ aa: 'AA34' });
  });

  test('a call that reverts is found by the estimate', async () => {
    const account = await openRichAccount();
    const update = AbiFunction.fromAbi(didRegistryAbi, 'update');
    const data = AbiFunction.encodeData(update, [didHash('did:example:nobody'), 'cid']);
    const prepared = await wallet.prepareOperation(chain.rpc, account, [{ target: contracts.didRegistry, data }]);
    const error = await refusal(
      bundler('eth_estimateUserOperationGas', [wallet.toRpc(prepared), contracts.entryPoint]),
    );
    expect(error).toMatchObject({ code: -32521, data: { kind: 'execution_reverted' } });
  });

  test('nothing they say leads to the bundler or its node', async () => {
    const account = await openAccount();
    const prepared = await wallet.prepareOperation(chain.rpc, account, [{ target: account.address }]);
    const operation = wallet.toRpc({ ...prepared, nonce: 9n });
    for (const method of ['pm_sponsorUserOperation', 'eth_estimateUserOperationGas']) {
      const error = await refusal(bundler(method, [operation, contracts.entryPoint]));
      for (const url of [sponsored.url, sponsored.bundler.url, chain.url]) {
        expect(JSON.stringify(error)).not.toContain(new URL(url).host);
      }
    }
  });
});

function asItIs(operation: wallet.Operation): wallet.Operation {
  return operation;
}

function withoutFactory({ factory: _, factoryData: __, ...rest }: wallet.Operation): wallet.Operation {
  return rest as wallet.Operation;
}
