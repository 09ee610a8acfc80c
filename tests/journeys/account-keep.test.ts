// An address of an account that somebody else has proven, at /account.
import { describe, expect, test } from 'bun:test';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { type } from '../support/account-page.ts';
import { type AuthorizeWorld, awaitRow, goThrough, visits } from '../support/authorize-page.ts';
import { press } from '../support/pay.ts';
import { until } from '../support/until.ts';

describe.skipIf(!chromium)('in Chromium', () => {
  let world: AuthorizeWorld;
  const { come, address } = visits((opened) => {
    world = opened;
  });
  /** The holder's page once somebody else has proven the address by a code. */
  const challenged = async () => {
    const [email, holder] = [address(), await come()];
    const did = String((await goThrough(holder, email)).answer?.['did']);
    await awaitRow(world, 'SELECT 1 FROM registrations WHERE did = :did AND final = 1', { did });
    const other = await come();
    await other.enter(email);
    await press(other.page, 'owned-go');
    await other.typeCode(email);
    await press(other.page, 'passkey-go');
    await press(other.page, 'give-go');
    const otherDid = String((await other.arrive()).answer?.['did']);
    await awaitRow(world, 'SELECT 1 FROM challenges WHERE did = :did AND judged_at IS NOT NULL', { did: otherDid });
    const { page, ...owner } = await come(`${world.origin}/account`, holder);
    await press(page, 'sign-in');
    await owner.screen('home');
    const holds = async () => {
      const sql = `SELECT did FROM registrations WHERE identifier = :key AND holds = 1`;
      return (await world.t.rows(sql, { key: `email:${email}` }))[0]?.['did'];
    };
    return { email, did, otherDid, page, ...owner, holds };
  };

  describe('an address that somebody else has proven', () => {
    test('is first of all, and stays by a code and the passkey', async () => {
      const { email, did, otherDid, page, screen, typeCode: _, holds } = await challenged();
      const said = await page.$eval('#notices > :first-child', ({ textContent }) => textContent);
      expect(said).toMatch(
        /Somebody else has proven an address of this account\.It moves on .*, unless it is still yours/,
      );
      expect(said).not.toContain(otherDid.slice(-8));
      await page.click('#notices > .bad:first-child button');
      expect(await screen('mail')).toContain('Keep your address');
      await type(page, 'email', email);
      await page.keyboard.press('Enter');
      await screen('code-form');
      await type(page, 'code', world.t.codeFor(email));
      expect(await screen('done')).toContain(`${email} stays with this account`);
      expect(await holds()).toBe(did);
      await press(page, 'done-go');
      await screen('home');
      expect(await page.$$('#notices [role=alert]')).toEqual([]);
    });

    test('stays also where strangers have used up its codes: the passkey asks for one', async () => {
      const { email, did, page, screen, holds } = await challenged();
      const ask = () => world.t.call('POST /api/verify/send', { identifier: email, channel: 'email' });
      await until('no code is left', async () => (await ask()).status === 429);
      // As the mail's link leads there.
      await page.goto(`${world.origin}/account#keep`);
      await page.reload();
      expect(await screen('mail')).toContain('Keep your address');
      await type(page, 'email', email);
      await page.keyboard.press('Enter');
      await screen('code-form');
      await type(page, 'code', world.t.codeFor(email));
      expect(await screen('done')).toContain(`${email} stays with this account`);
      expect(await holds()).toBe(did);
    });

    test('goes to the other account by the passkey alone', async () => {
      const { email, otherDid, page, screen, holds } = await challenged();
      await page.click('#notices > .bad:first-child .link');
      expect(await screen('mail')).toContain('Let the address go?');
      await type(page, 'email', email.toUpperCase());
      await page.keyboard.press('Enter');
      expect(await screen('done')).toContain('goes to the other account');
      await until('it has moved', async () => (await holds()) === otherDid);
    });
  });
});
