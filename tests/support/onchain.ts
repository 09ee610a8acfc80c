import { AbiConstructor, AbiFunction, type Address, type Hex, Secp256k1 } from 'ox';
import { didRegistryAbi } from '../../contracts/abi.ts';
import { toHex } from '../../lib/base/bytes.ts';
import { aliasHash, didHash } from '../../lib/identity/did.ts';
import type { P256PublicKey } from '../../lib/identity/passkey.ts';
import { compileContracts } from '../../scripts/contracts.ts';
import { type Chain, type ChainOptions, startChain } from '../../scripts/dev-stack/chain.ts';
import { create2 } from '../../scripts/dev-stack/create2.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import {
  type Account,
  addressOf,
  devAccount,
  sendTransaction,
  waitForReceipt,
} from '../../scripts/dev-stack/wallet.ts';
import { until } from './until.ts';

/** A transaction that was mined. */
export interface Mined {
  readonly txHash: Hex.Hex;
  readonly block: number;
  /** The signed bytes, to send it once more. */
  readonly raw: Hex.Hex;
}

/** A DID as it goes on-chain; the hash of the alias is zero without a handle. */
export interface Registrable {
  readonly did: string;
  readonly handle?: string;
}

/** A real chain with a registry, and what people do there. */
export interface TestChain extends Chain {
  readonly registry: Address.Address;
  /** The settings of a vault on this chain. */
  readonly vars: Readonly<Record<string, string>>;
  /**
   * Registers from a wallet of its own (a fresh one when absent), or through a `KeyHolder`; `registry` names another
   * one.
   */
  register(
    what: Registrable,
    by?: { wallet?: Account; holder?: Address.Address; registry?: Address.Address },
  ): Promise<Mined>;
  /** Sends a registration that is mined and reverts. */
  revert(what: Registrable): Promise<Hex.Hex>;
  /** Deploys a contract that controls what it registers and shows this P-256 key, as an account does. */
  deployHolder(key: P256PublicKey, salt?: Hex.Hex): Promise<Address.Address>;
  mine(blocks?: number): Promise<void>;
  /** Sends a transaction that a re-org took back once more, and waits until it is mined: the node answers before. */
  sendAgain(raw: Hex.Hex): Promise<void>;
  /** Replaces the newest blocks by empty ones. */
  reorg(depth: number): Promise<void>;
}

/** A chain, and the edition of its registry: the second one when absent. */
export interface TestChainOptions extends ChainOptions {
  readonly edition?: 1 | 2;
}

/** Here, not in the first test that needs a chain: without the runner this may compile, for over a minute. */
const { KeyHolder: holderArtifact } = await compileContracts();

/** Starts a chain of a test's own, with the contracts deployed. */
export async function startTestChain({ edition, ...options }: TestChainOptions = {}): Promise<TestChain> {
  const chain = await startChain(options);
  const { rpc, url } = chain;
  const { didRegistry: registry } = await deployContracts(rpc, edition === undefined ? {} : { registry: edition });
  const stranger = async (): Promise<Account> => {
    const privateKey = Secp256k1.randomPrivateKey();
    const account = { privateKey, address: addressOf(privateKey) };
    await rpc('anvil_setBalance', [account.address, '0xde0b6b3a7640000']);
    return account;
  };
  return {
    ...chain,
    registry,
    vars: { RPC_URL: url, CHAIN_ID: String(options.chainId ?? 84532), DID_REGISTRY_ADDRESS: registry },
    async register(what, { wallet, holder, registry: other = registry } = {}) {
      const { privateKey } = wallet ?? (await stranger());
      const data = registerData(what);
      const call = holder ? { to: holder, data: forwardData(other, data) } : { to: other, data };
      const { transactionHash: txHash, blockNumber } = await sendTransaction(rpc, privateKey, call);
      const raw = (await rpc('eth_getRawTransactionByHash', [txHash])) as Hex.Hex;
      return { txHash, block: Number(blockNumber), raw };
    },
    async revert(what) {
      const from = devAccount('bob').address;
      const call = { from, to: registry, data: registerData(what), gas: '0xf4240' };
      await rpc('eth_call', [call, 'latest']).then(
        () => Promise.reject(new Error('the transaction would not revert')),
        () => undefined,
      );
      const hash = (await rpc('eth_sendTransaction', [call])) as Hex.Hex;
      await until('its receipt', () => rpc('eth_getTransactionReceipt', [hash]));
      return hash;
    },
    async deployHolder({ x, y }, salt) {
      if (!holderArtifact) throw new Error('contracts/test/KeyHolder.sol is missing');
      const { abi, bytecode } = holderArtifact;
      const args = [BigInt(`0x${toHex(x)}`), BigInt(`0x${toHex(y)}`)];
      return create2(rpc, AbiConstructor.encode(AbiConstructor.fromAbi(abi), { bytecode, args: args as never }), salt);
    },
    async sendAgain(raw) {
      await waitForReceipt(rpc, (await rpc('eth_sendRawTransaction', [raw])) as Hex.Hex);
    },
    mine: async (blocks = 1) => void (await rpc('anvil_mine', [`0x${blocks.toString(16)}`])),
    reorg: async (depth) => void (await rpc('anvil_reorg', [depth, []])),
  };
}

/** The call `register` for a DID and its handle. */
export function registerData({ did, handle }: Registrable): Hex.Hex {
  const alias = handle === undefined ? NO_ALIAS : aliasHash(handle);
  return AbiFunction.encodeData(AbiFunction.fromAbi(didRegistryAbi, 'register'), [didHash(did), alias, '']);
}

const NO_ALIAS = `0x${'0'.repeat(64)}` as const;
const FORWARD = AbiFunction.from('function forward(address to, bytes data) returns (bytes)');

function forwardData(to: Address.Address, data: Hex.Hex): Hex.Hex {
  return AbiFunction.encodeData(FORWARD, [to, data]);
}
