// EntryPoint 0.9 through vault and bundler: an operation as the pay page makes it, hashed by the enclave.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Base64, Hex } from 'ox';
import { nonceOf } from '../../client/payment-nonce.ts';
import { loadEnclave } from '../../client/wallet/enclave.ts';
import { callDataOf, draftOperation, type Operation, signatureHead, withGas } from '../../client/wallet/operation.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { type Bundler, startBundler } from '../../scripts/dev-stack/bundler.ts';
import { type Chain, type ChainRpc, connectChain, startChain } from '../../scripts/dev-stack/chain.ts';
import { type Deployment, deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import { type OperationReceipt, openAccount } from '../../scripts/dev-stack/user-operation.ts';
import { chainVars } from '../support/chain-vars.ts';
import { balanceOf } from '../support/operations.ts';
import { until } from '../support/until.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const CHAIN_ID = 84532;
const enclave = await loadEnclave(await Bun.file(new URL('../../assets/enclave.wasm', import.meta.url)).bytes());

let chain: Chain;
let contracts: Deployment;
let bundler: Bundler;
let t: TestVault;
let ask: ChainRpc;
beforeAll(async () => {
  chain = await startChain();
  contracts = await deployContracts(chain.rpc, { entryPoint: '0.9' });
  bundler = await startBundler({ rpcUrl: chain.url, entryPoints: ['0.9'] });
  const clock = { ...systemClock, advance: () => Promise.reject(new Error('this clock is real')) };
  const vars = { ...chainVars(chain.url, contracts), BUNDLER_URL: bundler.url, RATE_LIMIT_PROXY_PER_IP: '100000' };
  t = await startVault(vars, { clock });
  ask = connectChain(`${t.url}/api/bundler`);
});
afterAll(async () => {
  await t.stop();
  await bundler.stop();
  await chain.stop();
});

test.each([1, 2] as const)('an account of kind %d pays with its first operation, and again', async (kind) => {
  const account = await openAccount(chain.rpc, contracts, createPasskey(), 0n, kind);
  await chain.rpc('anvil_setBalance', [account.address, '0xde0b6b3a7640000']);
  const payee = Hex.random(20);
  for (const [number, creation] of [
    [1n, { factory: account.factory, factoryData: account.factoryData }],
    [2n, undefined],
  ] as const) {
    const draft = draftOperation({
      sender: account.address,
      nonce: await nonceOf(`payment ${number}`),
      callData: callDataOf({ to: payee, amount: 5n, token: 'native' }),
      kind,
      p256: true,
      creation,
      ...(await feesOf(chain.rpc)),
    });
    const gas = await ask('eth_estimateUserOperationGas', [draft, contracts.entryPoint]);
    const operation = withGas(draft, gas);
    const hash = enclave.userOpHash(operation, contracts.entryPoint, CHAIN_ID);
    const end = 2 ** 47 - 1;
    const assertion = account.passkey.assert(kind === 1 ? hash : enclave.operationDigest(hash, end));
    const packed = enclave.packAssertion({
      authenticatorData: Base64.toBytes(assertion.authenticatorData),
      clientDataJSON: Base64.toBytes(assertion.clientDataJSON),
      signature: Base64.toBytes(assertion.signature),
    });
    const signature = kind === 1 ? packed : Hex.concat(signatureHead(0, end), packed);
    const receipt = await settled({ ...operation, signature });
    expect(receipt).toMatchObject({ success: true, userOpHash: Hex.fromBytes(hash) });
    expect(await balanceOf(chain.rpc, payee)).toBe(5n * number);
  }
});

async function feesOf(node: ChainRpc) {
  const price = BigInt((await node('eth_gasPrice')) as string);
  return { maxFeePerGas: Hex.fromNumber(2n * price + 1_000_000n), maxPriorityFeePerGas: Hex.fromNumber(1_000_000n) };
}

async function settled(operation: Operation): Promise<OperationReceipt> {
  const hash = await ask('eth_sendUserOperation', [operation, contracts.entryPoint]);
  const receipt = await until('it is mined', () => ask('eth_getUserOperationReceipt', [hash]));
  return receipt as OperationReceipt;
}
