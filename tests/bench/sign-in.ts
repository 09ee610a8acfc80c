// npm run bench:sign-in [-- --ms N]: sign-ins at apps by OpenID Connect, over HTTP, with RS256: exchanges a second,
// whole sign-ins a second, and reads beside the exchanges. Vault, apps and passkeys share this process, so a vault of its
// own does more: the passkeys' part is measured by itself, and RSA has threads of its own either way.
import { startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import { bearer, clientsFile, codeFor, exchange, OPENID_VARS, requestOf } from '../support/openid.ts';
import { registerNewcomer } from '../support/sign-ups.ts';
import { startVault } from '../support/vault.ts';
import { benchOptions } from './frame/options.ts';

const AT_ONCE = 16;
const { ms: roundMs } = benchOptions({ ms: 5_000 });

const chain = await startRelayChain({ startsAt: testClock().now() });
const WIDE = {
  RATE_LIMIT_PER_CLIENT: '1000000',
  RATE_LIMIT_PROXY_PER_IP: '1000000',
  RATE_LIMIT_READS_PER_IP: '1000000',
  RATE_LIMIT_WRITES_PER_IP: '1000000',
  KEEP_SIGNINS_DAYS: '1',
  LOG_LEVEL: 'warn',
};
const t = await startVault({ ...chain.vars, ...OPENID_VARS, ...WIDE }, clientsFile());
const alice = await registerNewcomer(chain, t);

const codes: (readonly [ReturnType<typeof requestOf>, string])[] = [];
const issue = async () => {
  const request = requestOf();
  codes.push([request, await codeFor(t, alice, request)]);
};
const must = (status: number) => {
  if (status !== 200) throw new Error(`answered ${status}`);
};
const exchangeOne = async () => {
  const [request, code] = codes.pop() ?? [];
  if (!request || code === undefined) return false;
  must((await exchange(t, request, code)).status);
  return true;
};

const issued = await measure('codes for a passkey’s touch', issue);
const reads: number[] = [];
const reading = setInterval(async () => {
  const began = performance.now();
  must((await t.call('GET /jwks')).status);
  reads.push(performance.now() - began);
}, 10);
const exchanged = await measure('exchanges of a code', exchangeOne);
clearInterval(reading);
const whole = await measure('whole sign-ins: page, code, exchange, userinfo', async () => {
  const request = requestOf();
  const page = await fetch(`${t.url}/authorize?${request.query}`, { redirect: 'manual' });
  await page.arrayBuffer();
  must(page.status);
  const { status, body } = await exchange(t, request, await codeFor(t, alice, request));
  must(status);
  must((await t.call('GET /userinfo', {}, bearer(body.access_token))).status);
});
const touches = await measure('a passkey’s signature alone, in this process', async () => {
  alice.passkey.assert(new Uint8Array(32));
});
for (const line of [issued, exchanged, whole, touches]) console.log(line);
console.log(`${'reads beside the exchanges'.padEnd(50)} p99 ${at(reads, 0.99)} ms of ${reads.length}`);
await t.stop();
await chain.stop();

/** Repeats work, so many at once, for a round or until it answers false. */
async function measure(name: string, work: () => Promise<unknown>): Promise<string> {
  const [times, began, processor]: [number[], number, NodeJS.CpuUsage] = [[], performance.now(), process.cpuUsage()];
  const run = async () => {
    while (performance.now() - began < roundMs) {
      const at = performance.now();
      if ((await work()) === false) return;
      times.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(processor);
  const perOne = ((user + system) / 1_000 / times.length).toFixed(2);
  const rate = (times.length / seconds).toFixed(0);
  return `${name.padEnd(50)} ${rate.padStart(6)}/s, ${perOne} ms of processor, p50 ${at(times, 0.5)} ms, p99 ${at(times, 0.99)} ms`;
}

function at(times: readonly number[], part: number): string {
  return (times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN).toFixed(1);
}
