// bun tests/screenshots/authorize.ts [FOLDER]: makes docs/images/authorize-*.png, the page of sign-ins against a real chain;
// with a folder it takes every screen there, in three widths, light and dark. Run it when the page changes.
import { startAuthorizeWorld, type Visitor, visit } from '../support/authorize-page.ts';
import { press } from '../support/pay.ts';
import { shoot as shootPage } from './shoot.ts';

const FOLDER = process.argv[2];

const world = await startAuthorizeWorld({ BRAND_NAME: 'Tea House' });

function shoot({ page }: Visitor, name: string, isShown = false): Promise<void> {
  return shootPage(page, { name, folder: FOLDER, prefix: 'authorize-', shownWidth: isShown ? 440 : undefined });
}

try {
  const email = 'alice@example.com';
  const visitor = await visit(world);
  const { page, screen } = visitor;
  await screen('start');
  await shoot(visitor, 'start', true);
  await visitor.enter('nonsense');
  await screen('address-fault');
  await shoot(visitor, 'fault');
  await visitor.enter(email);
  await screen('code');
  await page.type('#digits', '123');
  await shoot(visitor, 'code', true);
  await page.click('#digits', { count: 3 });
  await page.keyboard.press('Backspace');
  await visitor.typeCode(email);
  await screen('passkey');
  await shoot(visitor, 'passkey', true);
  await visitor.passkeys.allow(false);
  await press(page, 'passkey-go');
  await screen('passkey-notice');
  await shoot(visitor, 'refused');
  await visitor.passkeys.allow(true);
  // Nothing is mined: the page waits for the account.
  await world.chain.rpc('evm_setAutomine', [false]);
  await press(page, 'passkey-go');
  await screen('progress');
  await shoot(visitor, 'progress');
  await world.chain.rpc('evm_setAutomine', [true]);
  await world.chain.rpc('anvil_mine', ['0x1']);
  await visitor.arrive();
  const again = await visit(world, undefined, { passkeys: visitor.passkeys, context: visitor.context });
  await again.screen('start');
  await shoot(again, 'known');
  const forgetful = await visit(world, undefined, { passkeys: visitor.passkeys });
  await forgetful.enter(email);
  await forgetful.screen('owned');
  await shoot(forgetful, 'taken');
  const lost = await visit(world, world.app.link({ client_id: 'other' }));
  await lost.screen('problem');
  await shoot(lost, 'link');
  const asked = await visit(world, world.app.link({ scope: 'openid email phone' }), { passkeys: visitor.passkeys });
  await press(asked.page, 'sign-in');
  await asked.screen('give');
  await shoot(asked, 'give');
  await press(asked.page, 'give-add-sms');
  await asked.screen('add');
  await shoot(asked, 'add');
  for (let i = 0; i < 5; i++)
    await world.t.call('POST /api/verify/send', { identifier: 'b@example.com', channel: 'email' });
  const limited = await visit(world);
  await limited.enter('b@example.com');
  await limited.screen('problem');
  await shoot(limited, 'limited');
} finally {
  await world.stop();
}
