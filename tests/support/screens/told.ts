import { strangerOf } from './people.ts';
import type { Screen, World } from './screen.ts';

/** The pages that only tell something: the first one, in each language, that of shops, and those of a pass, and what is none. */
export function toldScreens(world: World): readonly Screen[] {
  const stranger = strangerOf(world);
  const languages = ['en', 'de', 'fr', 'es'].map((lang) => ({
    name: `/?lang=${lang}`,
    async reach() {
      const { page } = await stranger();
      await page.goto(`${world().origin}/?lang=${lang}`);
      await page.waitForSelector(`html[lang="${lang}"] [data-offer="openid"]:not([hidden])`);
      await page.waitForFunction(() => document.querySelector('#state')?.textContent !== '');
      return page;
    },
  }));
  const shops = async () => {
    const { page } = await stranger();
    await page.goto(`${world().origin}/pay`);
    return page;
  };
  const passes = ['/pass', '/pass/ready', '/pass/ended', '/nothing'].map((path) => ({
    name: path,
    async reach() {
      const { page } = await stranger();
      await page.goto(world().origin + path);
      await page.waitForFunction(() => document.title.includes(' · '));
      return page;
    },
  }));
  return [...languages, { name: '/pay', reach: shops }, ...passes];
}
