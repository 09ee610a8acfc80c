import { Address, Hex, Secp256k1, type TransactionReceipt, TxEnvelopeEip1559 } from 'ox';
import type { ChainRpc } from './chain.ts';

/** A key and the address it controls. */
export interface Account {
  readonly privateKey: Hex.Hex;
  readonly address: Address.Address;
}

/** A call; value in wei. */
export interface Call {
  readonly to: Address.Address;
  readonly data?: Hex.Hex;
  readonly value?: bigint;
}

/**
 * Accounts that every anvil funds: public, and worth nothing anywhere else. Written out, as deriving one from the
 * mnemonic takes a third of a second of each process. Relay, bundler and paymaster must not share a key with anyone.
 */
const ACCOUNTS = {
  owner: {
    privateKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
    address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  },
  registrar: {
    privateKey: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
    address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  },
  executor: {
    privateKey: '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
    address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  },
  utility: {
    privateKey: '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6',
    address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  },
  alice: {
    privateKey: '0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a',
    address: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  },
  bob: {
    privateKey: '0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba',
    address: '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc',
  },
  sponsor: {
    privateKey: '0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e',
    address: '0x976EA74026E726554dB657fA54763abd0C3a0aa9',
  },
  guardian: {
    privateKey: '0x4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356',
    address: '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955',
  },
} as const satisfies Readonly<Record<string, Account>>;
const PRIORITY_FEE_WEI = 1_000_000n;
const POLL_MS = 5;
const RECEIPT_TIMEOUT_MS = 60_000;

/** One of the local chain's funded accounts. */
export function devAccount(role: keyof typeof ACCOUNTS): Account {
  return ACCOUNTS[role];
}

/** The checksummed address a key controls. */
export function addressOf(privateKey: Hex.Hex): Address.Address {
  return Address.checksum(Address.fromPublicKey(Secp256k1.getPublicKey({ privateKey })));
}

/**
 * Sends and waits until mined. Throws the node's error when the call would revert. One call at a time per key: the
 * nonce is read from the chain. Every anvil signs for the funded accounts itself, for a fraction of the processor time.
 */
export async function sendTransaction(rpc: ChainRpc, privateKey: Hex.Hex, call: Call): Promise<TransactionReceipt.Rpc> {
  const { to, data = '0x', value = 0n } = call;
  const funded = Object.values<Account>(ACCOUNTS).find((account) => account.privateKey === privateKey);
  const from = funded?.address ?? addressOf(privateKey);
  const wanted = { from, to, data, value: Hex.fromNumber(value) };
  const gas = await quantity(rpc, 'eth_estimateGas', [wanted]);
  const gasPrice = await quantity(rpc, 'eth_gasPrice', []);
  const limits = {
    // The estimate is exact for the latest block only; the base fee can at most double in six blocks.
    gas: (gas * 12n) / 10n,
    maxFeePerGas: gasPrice * 2n + PRIORITY_FEE_WEI,
    maxPriorityFeePerGas: PRIORITY_FEE_WEI,
  };
  const nonce = await quantity(rpc, 'eth_getTransactionCount', [from, 'pending']);
  if (funded) {
    const quantities = Object.entries({ ...limits, nonce }).map(([name, one]) => [name, Hex.fromNumber(one)]);
    const hash = await rpc('eth_sendTransaction', [{ ...wanted, ...Object.fromEntries(quantities) }]);
    return waitForReceipt(rpc, hash as Hex.Hex);
  }
  const chainId = Number(await quantity(rpc, 'eth_chainId', []));
  const envelope = TxEnvelopeEip1559.from({ chainId, nonce, to, data, value, ...limits });
  const signature = Secp256k1.sign({ payload: TxEnvelopeEip1559.getSignPayload(envelope), privateKey });
  const hash = await rpc('eth_sendRawTransaction', [TxEnvelopeEip1559.serialize(envelope, { signature })]);
  return waitForReceipt(rpc, hash as Hex.Hex);
}

/** Waits until a transaction is mined; throws when it reverted. */
export async function waitForReceipt(rpc: ChainRpc, hash: Hex.Hex): Promise<TransactionReceipt.Rpc> {
  const deadline = performance.now() + RECEIPT_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as TransactionReceipt.Rpc | null;
    if (receipt?.status === '0x1' && (await isShown(rpc, receipt))) return receipt;
    if (receipt && receipt.status !== '0x1') throw new Error(`Transaction ${hash} reverted`);
    await Bun.sleep(POLL_MS);
  }
  throw new Error(`Transaction ${hash} was not mined in ${RECEIPT_TIMEOUT_MS} ms`);
}

/** anvil has a receipt a moment before it shows the transaction in its block. */
async function isShown(rpc: ChainRpc, { transactionHash, blockHash }: TransactionReceipt.Rpc): Promise<boolean> {
  const shown = (await rpc('eth_getTransactionByHash', [transactionHash])) as { blockHash: Hex.Hex | null } | null;
  return shown?.blockHash === blockHash;
}

async function quantity(rpc: ChainRpc, method: string, params: readonly unknown[]): Promise<bigint> {
  return BigInt((await rpc(method, params)) as string);
}
