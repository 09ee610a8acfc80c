// bun run bench:chain: what the chain's part costs. Predictions against asking the factory, requests that reads are
// joined to, and the proxy's own work.
import { join } from 'node:path';
import { Hex } from 'ox';
import creationCode from '../../contracts/creation-code.json' with { type: 'json' };
import { systemClock } from '../../lib/base/clock.ts';
import { createMetrics } from '../../lib/base/metrics.ts';
import type { AccountKey } from '../../lib/chain/account.ts';
import { createPredictAddress, type PredictAddress } from '../../lib/chain/account-address.ts';
import { createFactoryFacts } from '../../lib/chain/own-factory.ts';
import { createRpc } from '../../lib/chain/rpc.ts';
import { startChain } from '../../scripts/dev-stack/chain.ts';
import { create2 } from '../../scripts/dev-stack/create2.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { chainVars } from '../support/chain-vars.ts';
import { startForwarder } from '../support/forwarder.ts';
import { startVault } from '../support/vault.ts';
import { type Finding, load, request } from './frame/load.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const ROUND_MS = 1_000;
const READS = 200;
const AWAY_MS = 5;

const chain = await startChain();
const contracts = await deployContracts(chain.rpc);
/** Our own code at no known address, which alone is asked where PREDICT_LOCALLY is false. */
const factory = await create2(
  chain.rpc,
  Hex.concat(creationCode.AccountFactory as Hex.Hex, Hex.padLeft(devAccount('bob').address, 32)),
);
await benchPrediction();
await benchReads();
await benchProxy();
await chain.stop();

/**
 * Predictions a second: computed, and asked for one by one of a node on this machine and of one that is some
 * milliseconds away.
 */
async function benchPrediction(): Promise<void> {
  const local = await perSecond(predictBy(chain.url, true), 1);
  const near = await perSecond(predictBy(chain.url, false), 1);
  const joined = await perSecond(predictBy(chain.url, false), 50);
  const node = startForwarder(chain.url);
  node.trouble = (forward) => Bun.sleep(AWAY_MS).then(forward);
  const far = await perSecond(predictBy(node.url, false), 1);
  await node.stop();
  const times = (asked: number) => `${(local / asked).toFixed(asked > local / 10 ? 1 : 0)} times fewer`;
  say('predictions a second', `${local.toFixed(0)} computed`);
  say('', `${far.toFixed(0)} asked for one by one, ${AWAY_MS} ms away: ${times(far)} (aim 20)`);
  say('', `${near.toFixed(0)} asked for one by one, on loopback: ${times(near)}`);
  say('', `${joined.toFixed(0)} asked for 50 at a time, on loopback: ${times(joined)}`);
}

function predictBy(url: string, predictLocally: boolean): PredictAddress {
  const log = () => {};
  const outside = { clock: systemClock, metrics: createMetrics(), log };
  const rpc = createRpc({ ...outside, urls: { 84532: url }, fetch });
  const config = {
    chainId: 84532,
    hyperauthFactoryAddress: factory,
    accountFactory2Address: null,
    accountFactoriesFormer: [],
  };
  return createPredictAddress({ ...outside, config, rpc, witness: undefined }, createFactoryFacts({ predictLocally }));
}

/** The median of the rounds; every key is a new one, so that nothing is remembered. */
async function perSecond(predict: PredictAddress, concurrency: number): Promise<number> {
  let next = 1n;
  const newKey = (): AccountKey => ({ x: next++ << 200n, y: next << 190n, salt: next });
  await predict(newKey());
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    let count = 0;
    const start = performance.now();
    for (; performance.now() - start < ROUND_MS; count += concurrency) {
      if (concurrency === 1) await predict(newKey());
      else await Promise.all(Array.from({ length: concurrency }, () => predict(newKey())));
    }
    rates.push((1000 * count) / (performance.now() - start));
  }
  return median(rates);
}

/**
 * Requests to the node for the balances that many ask for at the same time: in one turn of the event loop, and over as
 * many sockets.
 */
async function benchReads(): Promise<void> {
  const node = startForwarder(chain.url);
  let requests = 0;
  node.trouble = (forward) => {
    requests++;
    return forward();
  };
  const vars = { ...chainVars(node.url, contracts), RATE_LIMIT_PROXY_PER_IP: '1000000', LOG_LEVEL: 'error' };
  const [t, vault] = await Promise.all([startVault(vars), start('vault', JSON.stringify(vars))]);
  const path = (n: number) => `/api/balance?account=0x${n.toString(16).padStart(40, '0')}&token=ETH&chainId=84532`;
  const inOneTurn = () =>
    Promise.all(Array.from({ length: READS }, (_, n) => t.vault.fetch(new Request(t.url + path(n)))));
  const overSockets = () =>
    load(vault, (n) => request('GET', path(n)), { ms: 10_000, connections: READS, count: READS });
  for (const [name, read] of [
    ['in one turn', inOneTurn],
    [`over ${READS} sockets`, overSockets],
  ] as const) {
    const counts: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      requests = 0;
      await read();
      counts.push(requests);
    }
    say(read === inOneTurn ? `${READS} balances` : '', `${median(counts.slice(1))} upstream requests ${name} (aim 5)`);
  }
  await Promise.all([t.stop(), stop(vault)]);
  await node.stop();
}

/** Processor time of the vault for a call through it, beside that of a bare server answering the same call itself. */
async function benchProxy(): Promise<void> {
  const bundler = await start('bundler');
  const settings = { ...chainVars(chain.url, contracts), BUNDLER_URL: `http://127.0.0.1:${bundler.port}` };
  const vault = await start('vault', JSON.stringify(settings));
  const body = { jsonrpc: '2.0', id: 'caller', method: 'eth_chainId', params: [] };
  const call = request('POST', '/api/bundler', { body });
  const measure = async (target: typeof vault) => {
    const findings: Finding[] = [];
    for (let round = 0; round <= ROUNDS; round++) findings.push(await load(target, () => call, { ms: ROUND_MS }));
    // The first warms up.
    return findings.slice(1);
  };
  const direct = await measure(bundler);
  const proxied = await measure(vault);
  const cpu = (findings: readonly Finding[]) => median(findings.map(({ cpuMicros }) => cpuMicros));
  const p50 = (findings: readonly Finding[]) => median(findings.map(({ p50Ms }) => p50Ms));
  say('proxy, 64 connections', `${cpu(proxied).toFixed(0)} µs of the vault's processor a call (aim 150)`);
  say('', `${cpu(direct).toFixed(0)} µs of the upstream's when called directly`);
  say('', `${p50(proxied).toFixed(2)} ms a call, ${p50(direct).toFixed(2)} ms directly`);
  await Promise.all([bundler, vault].map(stop));
}

async function start(...args: readonly string[]) {
  const command = [process.execPath, join(import.meta.dir, 'server.ts'), ...args];
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' });
  const { value } = await child.stdout.getReader().read();
  return { process: child, pid: child.pid, port: Number(new TextDecoder().decode(value)) };
}

async function stop({ process: child }: Awaited<ReturnType<typeof start>>): Promise<void> {
  child.kill('SIGTERM');
  await child.exited;
}

function say(subject: string, finding: string): void {
  console.log(`${subject.padEnd(24)}${finding}`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
