import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { tabOrder } from '../support/accessible.ts';
import { createHere, makeHere, openDevice } from '../support/account-page.ts';
import { type AuthorizeWorld, startAuthorizeWorld, visit } from '../support/authorize-page.ts';
import { createPasskeys, press } from '../support/pay.ts';
import { allScreens } from '../support/screens/all.ts';
import { newcomerScreens } from '../support/screens/authorize.ts';
import { faultsOf, faultsOnSmallPhone } from '../support/screens/faults.ts';
import { strangerOf } from '../support/screens/people.ts';

/** Wrong in every way that is looked for. */
const WRONG = `<!doctype html><html><title>T</title><style>
  @keyframes turn { to { rotate: 1turn } } b { animation: turn 1s infinite } p { color: #ccc; width: 400px; height: 1rem; overflow: hidden }
  div { visibility: hidden; height: 900px } input { border: 0 } b { display: block; width: 1em; overflow-wrap: anywhere }
  b, footer { font-size: 15px }
  :root { color-scheme: light dark } body { background: #fff } </style>
  <img src="x"><input><select><option>one</select><button></button><footer data-support><a href="/"><b>turns 1 things</b></a></footer><p>pale</p>
  <svg><path d="M0 0h9v9z" fill="#000"/></svg><nav><a aria-current="page"></a><a></a></nav><i class="cells"></i><i class="spinner"></i><div></div>`;

describe.skipIf(!chromium)('every screen is for everybody', () => {
  let world: AuthorizeWorld;
  beforeAll(async () => {
    world = await startAuthorizeWorld({ SUPPORT_ADDRESS: 'help@tea.example', BRAND_NAME: 'Tea House' });
  });
  // What is still open ends with the browser.
  afterAll(() => world.stop());
  /** Somebody whom no browser knows, in the window that they have. */
  const come = async (url = world.app.link()) => {
    const visitor = await strangerOf(() => world)();
    await visitor.page.goto(url);
    return visitor;
  };

  test('a page that is wrong is found so', async () => {
    const page = await world.own.browser.newPage();
    await page.setContent(WRONG);
    const found = (await faultsOf(page, { part: 'top', tabs: ['top', 'name'], words: ['alert:'] })).join('\n');
    for (const fault of [
      ...['the keyboard is not in #top', 'Tab leads from', 'without a name: button: ', '0 titles'],
      ...['not read: alert:', 'light axe image-alt', 'axe label', 'axe html-has-lang', 'dark axe color-contrast'],
      ...['light dim (1.6): pale', 'dark dim', 'hardly any text', 'pixels wide, ltr', 'pixels wide, rtl'],
      ...['pixels high: <button>', 'pixels long', 'moves: '],
      ...[
        'light: no edge: <input',
        'dark: no cells: ',
        'looks like any other: <a',
        'seems to stand still',
        'dark: a picture that cannot',
      ],
      ...['at 200 %: does not grow: <b>', 'at 200 %: is cut off: <p>'],
      ...[
        'light a link of another colour: ',
        'dark support in 15px',
        'a broken word: turns',
        'one in the plural: 1 things',
      ],
    ])
      expect(found).toContain(fault);
    // What moves there takes a quarter of a core for as long as it is open.
    await page.close();
  });

  const screens = allScreens(() => world);
  test.each(screens.map((screen) => [screen.name, screen] as const))('%s', async (_, screen) => {
    expect(await faultsOf(await screen.reach(), screen)).toEqual([]);
  });

  test.each(['de', 'fr', 'es'])('on 320 pixels nothing is cut off in %s', async (lang) => {
    for (const { name, reach } of newcomerScreens(() => world, { lang }))
      expect([name, await faultsOnSmallPhone(await reach())]).toEqual([name, []]);
  });

  test('what turns while a person waits does so unless they want no motion', async () => {
    const page = await world.own.browser.newPage();
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'no-preference' }]);
    for (const path of ['/account', '/pay/confirm?mode=redirect']) {
      await page.goto(world.origin + path);
      const name = await page.$eval('.spinner', (element) => getComputedStyle(element).animationName);
      expect([path, name]).toEqual([path, 'turn']);
    }
    await page.close();
  });

  test('a whole sign-up by the keyboard alone', async () => {
    const [email, { page, ...visitor }] = ['by.keyboard@example.com', await visit(world)];
    await visitor.screen('start');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('address');
    expect(await tabOrder(page, 4)).toEqual(['address-go', 'sign-in', 'shared', 'cancel']);
    await page.focus('#address');
    await page.keyboard.type(email);
    await page.keyboard.press('Enter');
    await visitor.screen('code');
    // The field has the keyboard already.
    await page.keyboard.type(world.t.codeFor(email));
    await visitor.screen('passkey');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('passkey-go');
    await page.keyboard.press('Enter');
    expect((await visitor.arrive()).status).toBe(200);
  });

  test('a change of the account is confirmed by the keyboard alone', async () => {
    const here = await openDevice(world, { passkeys: createPasskeys() });
    await createHere(world, here);
    await makeHere(here, 'By keyboard');
    await here.page.focus('#confirm-go');
    await here.page.keyboard.press('Enter');
    expect(await here.screen('done')).toContain('“By keyboard” opens this account now.');
  });

  test('a fault is tied to its field', async () => {
    const visitor = await come();
    await visitor.enter('nonsense');
    await visitor.screen('address-fault');
    const found = await visitor.page.$eval('#address', (field) => [
      field.getAttribute('aria-invalid'),
      document.getElementById((field.getAttribute('aria-describedby') ?? '').split(' ')[0] ?? '')?.textContent,
      document.activeElement === field,
    ]);
    expect(found).toEqual(['true', expect.stringContaining('Enter an email address'), true]);
  });

  test.each(['en', 'de', 'es', 'fr'])(
    'what the app gets is one sentence, apart from the choice below, %s',
    async (language) => {
      const { page, screen } = await come(world.app.link({ ui_locales: language, scope: 'openid email' }));
      await page.setViewport({ width: 360, height: 700 });
      await screen('start');
      expect(await page.$eval('html', ({ lang }) => lang)).toBe(language);
      const seen = await page.evaluate(() => {
        const hints = Array.from(document.querySelectorAll<HTMLElement>('#start .hint')).filter((one) =>
          one.checkVisibility(),
        );
        const range = document.createRange();
        range.selectNodeContents(document.querySelector('#start .choice span') as Element);
        const box = (document.getElementById('shared') as HTMLElement).getBoundingClientRect();
        return {
          hints: hints.length,
          sentences: hints[0]?.textContent?.match(/\.(?: |$)/g)?.length,
          gap: range.getBoundingClientRect().top - (hints[0]?.getBoundingClientRect().bottom ?? 0),
          box: [box.width, box.height],
        };
      });
      expect(seen).toEqual({ hints: 1, sentences: 1, gap: expect.any(Number), box: [20, 20] });
      expect(seen.gap).toBeGreaterThanOrEqual(8);
    },
  );

  test('the browser may fill in the address and the code', async () => {
    const visitor = await come(world.app.link({ login_hint: 'hint@example.com' }));
    await visitor.screen('start');
    const fields = () =>
      visitor.page.$$eval(':is(#start, #code) input:not([type="checkbox"], [type="hidden"])', (all) =>
        all.map(({ type, autocomplete, inputMode, value }) => [type, autocomplete, inputMode, value]),
      );
    expect(await fields()).toEqual([
      ['email', 'email webauthn', 'email', 'hint@example.com'],
      ['text', 'one-time-code', 'numeric', ''],
    ]);
    await press(visitor.page, 'address-go');
    await visitor.typeCode('hint@example.com');
    await visitor.screen('passkey');
  });
});
