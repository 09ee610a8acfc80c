// bun tests/screenshots/account.ts [FOLDER]: makes docs/images/account-*.png, the account page against a real chain and
// bundler; with a folder it takes every screen there, in three widths, light and dark. Run it when the page changes.
import { addressOf } from '../../scripts/dev-stack/wallet.ts';
import {
  addHere,
  confirm,
  createHere,
  type Device,
  makeHere,
  openDevice,
  pressNamed,
  type,
} from '../support/account-page.ts';
import { keepWorking } from '../support/background.ts';
import { press, startPayWorld } from '../support/pay.ts';
import { shoot as shootPage } from './shoot.ts';

const FOLDER = process.argv[2];
const GUARDIAN_KEY = `0x${'47'.repeat(32)}` as const;

const world = await startPayWorld({
  more: { GUARDIAN_PRIVATE_KEY: GUARDIAN_KEY, MAX_VERIFY_SENDS_PER_IP: '1000', RECOVERIES_DAILY_MAX: '1000' },
});
await world.chain.rpc('anvil_setBalance', [addressOf(GUARDIAN_KEY), '0xde0b6b3a7640000']);
const endWork = keepWorking(world.t, 250);

function shoot({ page }: Device, name: string, isShown = false): Promise<void> {
  return shootPage(page, { name, folder: FOLDER, prefix: 'account-', shownWidth: isShown ? 440 : undefined });
}

async function prove({ page, screen }: Device, email: string): Promise<void> {
  await type(page, 'email', email);
  await page.keyboard.press('Enter');
  await screen('code-form');
  await shoot({ page } as Device, 'code');
  await type(page, 'code', world.t.codeFor(email));
  await page.keyboard.press('Enter');
}

try {
  const here = await openDevice(world);
  const { page, screen } = here;
  await screen('start');
  await shoot(here, 'start');
  const account = await createHere(world, here);
  await page.reload();
  await screen('home');
  await page.waitForFunction(() => document.getElementById('money')?.childElementCount === 2);
  await shoot(here, 'new');
  await press(page, 'add');
  await screen('pick');
  await shoot(here, 'pick');
  await page.click('[data-home]:not([hidden])').catch(() => undefined);
  await here.go('');
  await screen('home');
  await addHere(here, 'Security key in the desk drawer');
  await press(page, 'guard');
  await screen('mail');
  await shoot(here, 'mail');
  await prove(here, 'alice@example.com');
  await screen('delay');
  await shoot(here, 'delay');
  await page.click('#delay-form button');
  await screen('confirm');
  await shoot(here, 'confirm');
  await confirm(here);
  await screen('home');
  await page.waitForFunction(() => document.getElementById('money')?.childElementCount === 2);
  await shoot(here, 'home', true);
  await here.go('qr');
  await screen('qr-code');
  await shoot(here, 'qr', true);
  const link = (await page.$eval('#qr-link', (element) => element.textContent ?? '')).split('#')[1] ?? '';
  const second = await openDevice(world, { hash: link });
  await second.screen('join-ask');
  await shoot(second, 'join');
  await second.page.click('#join-form button');
  await second.screen('join-digits');
  await shoot(second, 'digits');
  await screen('qr-digits');
  await shoot(here, 'compare', true);
  await here.go('take');
  await screen('take');
  await shoot(here, 'take');
  const lost = await openDevice(world, { hash: 'recover' });
  await lost.screen('mail');
  await prove(lost, 'alice@example.com');
  await lost.screen('which');
  await shoot(lost, 'which');
  await lost.page.click('#which-list button');
  await lost.screen('renew');
  await shoot(lost, 'renew');
  await press(lost.page, 'renew-go');
  await lost.screen('waiting-left');
  await shoot(lost, 'waiting', true);
  await here.go('');
  await page.reload();
  await screen('notices');
  await page.waitForFunction(() => document.getElementById('money')?.childElementCount === 2);
  await shoot(here, 'stop', true);
  await pressNamed(page, 'Change First passkey');
  await screen('key');
  await shoot(here, 'key');
  await here.go('');
  await screen('home');
  world.upstream.set('refusing', 'pm_sponsorUserOperation');
  await world.fund(account, { wei: 0n });
  await makeHere(here);
  await shoot(here, 'poor');
  world.upstream.set('down', 'eth_estimateUserOperationGas', 'pm_sponsorUserOperation');
  await press(page, 'confirm-go');
  await screen('problem');
  await shoot(here, 'failing');
} finally {
  await endWork();
  await world.stop();
}
