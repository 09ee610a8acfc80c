import { HOUR_MS } from '../base/clock.ts';
import { callUpstreamWith } from '../base/http-client.ts';
import type { Config } from '../config/config.ts';
import { UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import { CLOCK_STEP_MS } from '../db/clocks.ts';
import { type Finding, fail, ok, skip, warn } from './finding.ts';
import type { Examined, Outside } from './host.ts';

/** From when on clock and node are a finding. Codes live 90 seconds, tokens are forgiven 60. */
const CLOCK_SKEW_WARN_MS = 5_000;
export const CLOCK_SKEW_FAIL_MS = 30_000;

/** Compares the clock with the nodes' and the database's, and with the last clean-up where no node says the time. */
export async function checkClock(outside: Outside, { config, stored }: Examined): Promise<readonly Finding[]> {
  const [node, facts] = await Promise.all([compareWithNodes(outside, config), stored?.().catch(() => undefined)]);
  const findings = [node];
  // An embedded database has this machine's clock.
  if (facts && !/^file:/i.test(config.databaseUrl)) findings.push(judgeClock(facts.aheadMs, 'the database'));
  const since = facts?.sinceCleanUpMs ?? 0;
  if (node.state !== 'ok' && Math.abs(since) >= CLOCK_STEP_MS) {
    const hours = Math.round(Math.abs(since) / HOUR_MS);
    const text = `the last clean-up is ${hours} h ${since > 0 ? 'ago' : 'ahead'}: the next waits until the time is sure`;
    findings.push(warn('clock', text, CONFIRM));
  }
  return findings;
}

const CONFIRM = 'if date shows the right time, run: vault clock confirm';

/** By the time that a node's web server puts on its answer: the first that has one. */
async function compareWithNodes(outside: Outside, config: Config): Promise<Finding> {
  const { rpcUrl, rpcWitnessUrl, bundlerUrl } = config;
  const nodes = { RPC_URL: rpcUrl, RPC_WITNESS_URL: rpcWitnessUrl, BUNDLER_URL: bundlerUrl };
  for (const [setting, url] of Object.entries(nodes)) {
    const aheadMs = url === undefined ? undefined : await askForTime(outside, url);
    if (aheadMs !== undefined) return judgeClock(aheadMs, `the node at ${setting}`);
  }
  return skip('clock', 'no node that is set says the time: nothing to compare with');
}

async function askForTime(outside: Outside, url: string): Promise<number | undefined> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const request = { url, method: 'POST', headers: { 'content-type': 'application/json' }, body } as const;
  const asked = outside.clock.now();
  const date = await callUpstreamWith(outside, request, UPSTREAM_TIMEOUT_MS, async ({ headers }) =>
    headers.get('date'),
  ).catch(() => null);
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return undefined;
  return (asked + outside.clock.now()) / 2 - (theirs + HALF_SECOND_MS);
}

/** The header has whole seconds. */
const HALF_SECOND_MS = 500;
const SYNCHRONISE = 'set the clock and keep it synchronised: timedatectl set-ntp true';

/** `aheadMs` is how far this machine's clock is ahead of the other, negative if behind. */
export function judgeClock(aheadMs: number, other = 'the node at RPC_URL'): Finding {
  const off = Math.abs(aheadMs);
  const text = `${(off / 1000).toFixed(0)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ${other}`;
  if (off >= CLOCK_SKEW_FAIL_MS) return fail('clock', `${text}: codes and tokens expire by this clock`, SYNCHRONISE);
  if (off >= CLOCK_SKEW_WARN_MS) return warn('clock', text, SYNCHRONISE);
  return ok('clock', `agrees with ${other}`);
}
