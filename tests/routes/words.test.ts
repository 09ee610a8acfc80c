import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SVG } from '../support/brand.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const FILES: Readonly<Record<string, string>> = {
  '/etc/brands.json': JSON.stringify({
    tea: { name: 'Tea House', logo: 'tea.svg', color: ['#0a6b48', '#57d9a3'], support: 'help@tea.example' },
  }),
  '/etc/tea.svg': SVG,
  '/etc/words/he/pass.json': JSON.stringify({ 'ended.title': 'הקישור אינו תקף עוד' }),
};
const operatorFiles = {
  read: (path: string) => (FILES[path] === undefined ? undefined : new TextEncoder().encode(FILES[path])),
  list: () => ['he'],
};

let t: TestVault;
beforeAll(async () => {
  t = await startVault({ APPS: 'tea', BRANDS: '/etc/brands.json', WORDS_DIR: '/etc/words' }, { operatorFiles });
});
afterAll(() => t.stop());

const ID = 'ended.title';

describe('GET /words/pass.json', () => {
  test('has the words of the language that is asked for, else of Accept-Language', async () => {
    const { status, headers, body } = await t.call('GET /words/pass.json', {}, { 'Accept-Language': 'fr-CA' });
    expect([status, body.lang, body.dir]).toEqual([200, 'fr', 'ltr']);
    expect(body.words[ID]).toBe('Ce lien n’est plus valable');
    expect([headers.get('content-language'), headers.get('vary')]).toEqual([
      'fr',
      'accept-encoding, accept-language, x-vault-app',
    ]);
    const asked = await t.call('GET /words/pass.json', { lang: 'de-AT' }, { 'Accept-Language': 'fr' });
    expect([asked.body.lang, asked.body.words[ID]]).toEqual(['de', 'Dieser Link gilt nicht mehr']);
    const { lang, words } = (await t.call('GET /words/pass.json')).body;
    expect([lang, words[ID]]).toEqual(['en', 'This link does not work any more']);
  });

  test('has the direction of a language of the operator’s folder', async () => {
    const { body } = await t.call('GET /words/pass.json?lang=he');
    expect([body.lang, body.dir, body.words[ID]]).toEqual(['he', 'rtl', 'הקישור אינו תקף עוד']);
    expect(body.words['ended.newest']).toBe('If you have several messages, open the link of the newest one.');
  });

  test('has the brand of the operator, or of the app', async () => {
    const host = new URL((await t.call('GET /pay/config')).body.origin).host;
    expect((await t.call('GET /words/pass.json')).body.brand).toEqual({
      name: host,
      logo: null,
      color: null,
      support: null,
    });
    const own = {
      name: 'Tea House',
      logo: '/brand/logo?app=tea',
      color: { light: '#0a6b48', dark: '#57d9a3' },
      support: 'help@tea.example',
    };
    expect((await t.call('GET /words/pass.json?app=tea')).body.brand).toEqual(own);
    expect((await t.call('GET /words/pass.json', {}, { 'X-Vault-App': 'tea' })).body.brand).toEqual(own);
    expect((await t.call('GET /words/pass.json?app=other')).body.brand.name).toBe(host);
  });

  test('is not sent again unless it changed', async () => {
    const etag = (await t.call('GET /words/pass.json?lang=de')).headers.get('etag') ?? '';
    expect((await t.call('GET /words/pass.json?lang=de', {}, { 'If-None-Match': etag })).status).toBe(304);
    expect((await t.call('GET /words/pass.json?lang=fr', {}, { 'If-None-Match': etag })).status).toBe(200);
  });

  test.each([
    ['lang=de_DE', 'de'],
    ['lang=', 'fr'],
    ['lang=german+language', 'fr'],
    [`lang=${'x'.repeat(500)}`, 'fr'],
    ['app=Tea', 'fr'],
  ])('with %s: the page has words all the same, in %s', async (query, lang) => {
    const { status, body } = await t.call(`GET /words/pass.json?${query}`, {}, { 'Accept-Language': 'fr' });
    expect([status, body.lang, body.brand.name]).toEqual([200, lang, expect.stringContaining('localhost')]);
  });

  test('with a name that is there twice: 400', async () => {
    expect((await t.call('GET /words/pass.json?lang=de&lang=fr')).status).toBe(400);
  });

  test('is 404 for a page that there is not', async () => {
    expect((await t.call('GET /words/none.json')).status).toBe(404);
  });
});
