import { Hex } from 'ox';
import { type Enclave, loadEnclave } from '../../../client/wallet/enclave.ts';
import { type Chain, type ChainOptions, startChain } from '../../../scripts/dev-stack/chain.ts';
import { type Deployment, deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { deployEntryPoints } from '../../../scripts/dev-stack/entrypoints.ts';
import { type Paymaster, startPaymaster } from '../../../scripts/dev-stack/paymaster.ts';
import { mintUsdc, placeUsdc, USDC } from '../../../scripts/dev-stack/usdc.ts';
import { chainVars } from '../chain-vars.ts';
import { type Draw, openDraw } from '../draw.ts';
import { type Liar, startLiar } from '../liar.ts';
import { startVault, type TestVault } from '../vault.ts';
import { type LyingBundler, startLyingBundler } from './bundler.ts';
import { installBrowser } from './device.ts';
import { rememberReads } from './remembered-reads.ts';
import { type WorldTime, worldTime } from './time.ts';

/** A chain, a vault on it, and between them a node and a bundler that cannot be trusted. */
export interface HostileWorld {
  readonly chain: Chain;
  readonly contracts: Deployment;
  readonly time: WorldTime;
  readonly seed: number;
  readonly draw: Draw;
  readonly node: Liar;
  /** The second node of a world in which the first one lies. */
  readonly witness: Liar | undefined;
  readonly bundler: LyingBundler;
  readonly vault: TestVault;
  readonly enclave: Enclave;
  /** Everything fails and lies by the seed from now on, or nothing any more. */
  rage(isRaging: boolean): void;
  /** One block with what is due, or a re-org; time passes before it. Then the vault's own work. */
  turn(seconds: number): Promise<void>;
  mine(): Promise<void>;
  /** How often the newest blocks were replaced. */
  reorgs(): number;
  balanceOf(address: string, token: string): Promise<bigint>;
  fund(address: string, funds: { wei?: bigint; usdc?: bigint }): Promise<void>;
  stop(): Promise<void>;
}

/** Every run of a seed begins at the same moment. */
const startsAt = Date.UTC(2027, 0, 1);
/** How deep a block is final here. No re-org of this world is as deep. */
export const FINAL_DEPTH = 4;
const NODE_RATE = 60;
const WITNESS_RATE = 25;
const BUNDLER_RATE = 450;

/** Starts it all, honest at first. `hasWitness`: the first node may lie, since there is a second one. */
export async function startHostileWorld({
  seed,
  hasWitness = false,
  hardfork,
  vars = {},
}: {
  readonly seed: number;
  readonly hasWitness?: boolean;
  readonly hardfork?: ChainOptions['hardfork'];
  readonly vars?: Readonly<Record<string, string>>;
}): Promise<HostileWorld> {
  const real = await startChain({ startsAt, ...(hardfork ? { hardfork } : {}) });
  const chain = { ...real, rpc: rememberReads(real.rpc) };
  const contracts = await deployContracts(chain.rpc);
  await deployEntryPoints(chain.rpc);
  await placeUsdc(chain.rpc);
  const time = worldTime(startsAt + 60_000);
  const draw = openDraw(seed);
  const node = startLiar({ target: chain.rpc, seed, drawsEach: true });
  const witness = hasWitness ? startLiar({ target: chain.rpc, seed: seed + 1 }) : undefined;
  let paymaster: Paymaster | undefined;
  const { entryPoint } = contracts;
  const sponsor = () => paymaster?.url;
  const bundler = await startLyingBundler({ node: chain.rpc, entryPoint, seed, time, sponsor });
  paymaster = await startPaymaster({ node: chain.rpc, bundlerUrl: bundler.url });
  const uninstall = installBrowser(time);
  const vault = await startVault(
    {
      ...chainVars(node.url, contracts),
      ...(witness ? { RPC_WITNESS_URL: witness.url } : {}),
      BUNDLER_URL: bundler.url,
      FINALITY_BLOCKS: String(FINAL_DEPTH),
      LOG_LEVEL: 'warn',
      ...LIMITS,
      ...vars,
    },
    { clock: time },
  );
  const enclave = await loadEnclave(await Bun.file(new URL('../../../assets/enclave.wasm', import.meta.url)).bytes());
  await chain.rpc('evm_setAutomine', [false]);
  /** Where transactions are mined at once, a block may come between the look and the time that is set. */
  async function mine(): Promise<void> {
    const { timestamp } = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex.Hex };
    const at = Math.max(Math.floor(time.now() / 1000), Number(timestamp) + 1);
    const refusal = await chain.rpc('evm_setNextBlockTimestamp', [at]).then(() => undefined, String);
    if (refusal?.includes("lower than previous block's timestamp")) return mine();
    if (refusal !== undefined) throw new Error(refusal);
    await chain.rpc('evm_mine');
  }
  let reorgs = 0;
  async function reorg(): Promise<void> {
    reorgs++;
    await chain.rpc('anvil_reorg', [1 + draw.below(FINAL_DEPTH - 1), []]);
    await bundler.reconsider();
  }
  for (let block = 0; block <= FINAL_DEPTH; block++) await mine();
  return {
    chain,
    contracts,
    time,
    seed,
    draw,
    node,
    witness,
    bundler,
    vault,
    enclave,
    mine,
    reorgs: () => reorgs,
    rage(isRaging) {
      node.rate = isRaging ? NODE_RATE : 0;
      if (witness) witness.rate = isRaging ? WITNESS_RATE : 0;
      bundler.rate = isRaging ? BUNDLER_RATE : 0;
    },
    async turn(seconds) {
      await time.leap(seconds * 1000);
      await bundler.include();
      if (bundler.rate > 0 && draw.below(12) === 0) await reorg();
      else if (bundler.rate === 0 || draw.below(4) > 0) await mine();
      await time.during(vault.work());
      await time.settle();
    },
    async balanceOf(address, token) {
      if (token === 'native') return BigInt((await chain.rpc('eth_getBalance', [address, 'latest'])) as string);
      const data = `0x70a08231${address.slice(2).padStart(64, '0')}`;
      return BigInt((await chain.rpc('eth_call', [{ to: USDC, data }, 'latest'])) as string);
    },
    async fund(address, { wei, usdc }) {
      if (wei !== undefined) await chain.rpc('anvil_setBalance', [address, Hex.fromNumber(wei)]);
      if (usdc === undefined) return;
      await chain.rpc('evm_setAutomine', [true]);
      await mintUsdc(chain.rpc, address as Hex.Hex, usdc);
      await chain.rpc('evm_setAutomine', [false]);
    },
    async stop() {
      uninstall();
      await vault.stop();
      await Promise.all([node, witness, bundler, paymaster].map((one) => one?.stop()));
      await chain.stop();
    },
  };
}

const LIMITS = {
  RATE_LIMIT_PROXY_PER_IP: '100000000',
  RATE_LIMIT_READS_PER_IP: '100000000',
  RATE_LIMIT_WRITES_PER_IP: '100000000',
  SPONSOR_DAILY_MAX: '1000000',
  MAX_REGISTRATIONS_PER_IP: '100000',
  RELAY_DAILY_MAX: '1000000',
};
