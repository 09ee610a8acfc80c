// npm run bench:sign-up [-- --rounds N]: a person's registration through vault/client in Chromium, in the local world:
// from the first byte of the app's page to `submitted`, and to `confirmed`. The code is typed at once, and passkeys
// agree by themselves.
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { createPasskeys, type PayWorld, startPayWorld } from '../support/pay.ts';
import { benchOptions } from './frame/options.ts';
import { each, interleaved } from './frame/rounds.ts';

/** Milliseconds from the first byte of the page. */
interface SignUp {
  readonly submitted: number;
  readonly confirmed: number;
}

const RELAYS = 'the vault registers the DID';
const RECORDS = 'the account registers it, by a user operation';
const WIDE = { MAX_VERIFY_SENDS_PER_IP: '10000', MAX_REGISTRATIONS_PER_IP: '10000', RELAY_DAILY_MAX: '100000' };

const options = benchOptions({ rounds: 5 });
const worlds = {
  [RELAYS]: await startPayWorld({ more: { ...WIDE, REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey } }),
  [RECORDS]: await startPayWorld({ more: WIDE }),
};
const working = setInterval(() => {
  for (const { t } of Object.values(worlds)) void t.work();
}, 1_000);
const steps = Object.entries(worlds).map(([name, world]) => ({ name, run: () => signUp(world) }));
const findings = await interleaved<SignUp>(steps, { rounds: options.rounds, warmUps: 1 });
clearInterval(working);
for (const { stop } of Object.values(worlds)) await stop();
for (const [name, all] of findings) {
  const [submitted, confirmed] = (['submitted', 'confirmed'] as const).map((step) => each(all, (one) => one[step]));
  console.log(`${name}: submitted ${shown(submitted)}, confirmed ${shown(confirmed)}`);
}

/** A new browser, which has nothing of the vault stored, opens the page. */
async function signUp({ own, origin, shop, pages, t }: PayWorld): Promise<SignUp> {
  pages.set('/sign-up', pageOf(origin));
  const context = await own.browser.createBrowserContext();
  try {
    const page = await context.newPage();
    await createPasskeys().attach(page);
    await page.exposeFunction('codeFor', t.codeFor);
    await page.goto(`${shop}/sign-up`);
    const found = await page.evaluate('made');
    if (typeof found === 'string') throw new Error(found);
    return found as SignUp;
  } finally {
    await context.close();
  }
}

function pageOf(vault: string): string {
  return `<!doctype html><title>Sign up</title><script type="module">
    import { createClient } from '${vault}/client.js';
    const email = crypto.randomUUID() + '@example.com';
    const [{ responseStart }] = performance.getEntriesByType('navigation');
    const since = () => performance.now() - responseStart;
    async function measure() {
      const made = await createClient({ url: '${vault}' }).register({ email, askCode: () => codeFor(email) });
      const submitted = since();
      await made.confirmed;
      return { submitted, confirmed: since() };
    }
    window.made = measure().catch(String);
  </script>`;
}

function shown(spread: ReturnType<typeof each> | undefined): string {
  const seconds = (ms = Number.NaN) => (ms / 1000).toFixed(2);
  return `${seconds(spread?.median)} (${seconds(spread?.low)}–${seconds(spread?.high)}) s`;
}
