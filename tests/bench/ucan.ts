// bun tests/bench/ucan.ts: tokens minted and verified a second, from the source and in a compiled program, one after
// the other on one core.
import { systemClock } from '../../lib/base/clock.ts';
import { systemRandom } from '../../lib/base/random.ts';
import { type Minted, mintDelegation, mintInvocation } from '../../lib/ucan/mint.ts';
import { createVerify, ed25519Signer, type UcanSigner } from '../../lib/ucan/signature.ts';
import { verifyInvocation } from '../../lib/ucan/verify.ts';
import { temporaryFolder } from '../support/databases.ts';
import { newSigner } from '../support/ucan.ts';

const ROUNDS = 5;
const ROUND_MS = 1_000;
const COMMAND = '/vault/console/events/read';
const isCompiled = Bun.main.includes('$bunfs');

if (!isCompiled) await runCompiled();
await measure(isCompiled ? 'compiled' : 'source');
process.exit(0);

async function measure(place: string): Promise<void> {
  const vault = await ed25519Signer(systemRandom(32));
  const dashboard = await newSigner('P-256');
  const now = systemClock.now();
  const expiresAt = now + 300_000;
  const common = { subject: vault.did, command: COMMAND, expiresAt };
  const mint = (key: UcanSigner, proofs: readonly Uint8Array[] = []) =>
    mintInvocation({ ...common, key, args: { app: 'default' }, nonce: systemRandom(12), proofs });
  const leave = await mintDelegation({
    ...common,
    key: vault,
    audience: dashboard.did,
    command: '/vault/console',
    policy: [['==', '.app', 'default']],
    nonce: systemRandom(12),
  });
  const verify = createVerify();
  const judge = (service: string) => async (minted: Minted) => {
    const verdict = await verifyInvocation(minted.token, { service, now, verify });
    if (!verdict.ok) throw new Error(verdict.message);
  };
  await say(`${place}: mint, Ed25519`, () => mint(vault));
  await say(`${place}: verify, self-issued Ed25519`, judge(vault.did), await many(() => mint(vault)));
  const own = () =>
    mintInvocation({ ...common, subject: dashboard.did, key: dashboard, args: {}, nonce: systemRandom(12) });
  await say(`${place}: verify, self-issued P-256`, judge(dashboard.did), await many(own));
  const delegated = await many(() => mint(dashboard, [leave.bytes]));
  await say(`${place}: verify, P-256 with one delegation by Ed25519`, judge(vault.did), delegated);
}

function many(mint: () => Promise<Minted>): Promise<Minted[]> {
  return Promise.all(Array.from({ length: 1_000 }, mint));
}

/** The median of the rounds, one call after the other, and with 32 under way. */
async function say<T>(
  name: string,
  work: (one: T) => Promise<unknown>,
  inputs: readonly T[] = [undefined as T],
): Promise<void> {
  const single = await median(1, work, inputs);
  const joined = await median(32, work, inputs);
  console.log(
    `${name.padEnd(52)} ${single.toFixed(0).padStart(7)}/s one by one ${joined.toFixed(0).padStart(7)}/s with 32 under way`,
  );
}

async function median<T>(width: number, work: (one: T) => Promise<unknown>, inputs: readonly T[]): Promise<number> {
  const rates: number[] = [];
  let next = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    let count = 0;
    for (; performance.now() - start < ROUND_MS; count += width) {
      if (width === 1) await work(inputs[next++ % inputs.length] as T);
      else await Promise.all(Array.from({ length: width }, () => work(inputs[next++ % inputs.length] as T)));
    }
    rates.push((count / (performance.now() - start)) * 1000);
  }
  return rates.sort((a, b) => a - b)[ROUNDS >> 1] ?? 0;
}

/** This very file as a program of its own, built with the settings of the vault's own. */
async function runCompiled(): Promise<void> {
  const folder = temporaryFolder();
  const outfile = `${folder.path}/bench`;
  try {
    await Bun.build({
      entrypoints: [import.meta.path],
      target: 'bun',
      format: 'esm',
      minify: { whitespace: true, syntax: true, identifiers: false },
      compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
    });
    await Bun.spawn([...(Bun.which('taskset') ? ['taskset', '-c', '0'] : []), outfile], {
      stdout: 'inherit',
      stderr: 'inherit',
    }).exited;
  } finally {
    folder.remove();
  }
}
