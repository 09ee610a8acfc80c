import { describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operatorFiles } from '../../../commands/setup/operator-files.ts';
import { createBrands } from '../../../lib/brand/brands.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { PNG, SVG } from '../../support/brand.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const VARS = { VAULT_SECRET, BASE_URL: 'https://vault.example.com', TRUSTED_PROXIES: 'none' };
const OFF = { EMAIL_PROVIDER: 'none', SMS_PROVIDER: 'none' };

/** The brands of settings, with files in a folder of their own; `@` in a setting stands for the folder. */
function open(vars: Readonly<Record<string, string>> = {}, files: Readonly<Record<string, string | Uint8Array>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'vault-brand-'));
  try {
    mkdirSync(join(folder, 'logos'));
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const given = Object.fromEntries(Object.entries(vars).map(([name, text]) => [name, text.replace(/^@/, folder)]));
    return createBrands(readConfig({ ...VARS, ...OFF, ...given }), operatorFiles);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const openApps = (entries: unknown, files = {}) =>
  open(
    { APPS: 'tea,books', BRANDS: '@/brands.json' },
    { 'brands.json': typeof entries === 'string' ? entries : JSON.stringify(entries), ...files },
  );

describe('the brand of the operator', () => {
  test('is the host of BASE_URL without settings', () => {
    expect(open()('default')).toEqual({
      name: 'vault.example.com',
      site: undefined,
      logo: undefined,
      color: undefined,
      support: undefined,
      isOwn: false,
    });
  });

  test('names the host of a client of CLIENTS', () => {
    const uris = { redirectUris: ['https://tea.example/in'], secrets: [], needsPkce: true };
    const client = { ...uris, id: 'tea', sector: 'tea', resources: [] };
    const brandOf = createBrands(readConfig({ ...VARS, ...OFF }), undefined, new Map([['tea', client]]));
    expect([brandOf('tea').site, brandOf('other').site]).toEqual(['tea.example', undefined]);
    expect(brandOf('tea')).toMatchObject({ name: 'vault.example.com', isOwn: false });
    expect(brandOf('tea')).toBe(brandOf('tea'));
  });

  test('is what the settings say, for every app', () => {
    const brandOf = open(
      {
        BRAND_NAME: 'Tea House',
        BRAND_LOGO: '@/logo.svg',
        BRAND_COLOR: '#3146c8',
        SUPPORT_ADDRESS: 'help@tea.example',
      },
      { 'logo.svg': SVG },
    );
    expect(brandOf('any')).toMatchObject({ name: 'Tea House', support: 'help@tea.example', isOwn: false });
    expect(brandOf('any').logo?.type).toBe('image/svg+xml');
    expect(brandOf('any').color?.light).toBe('#3146c8');
  });

  test.each([
    '<b>',
    'a"b',
    'a\\b',
    'a\u202eb',
    'a\u200bb',
    'a\ue000',
    '\u200da',
    'a\u200d',
    'a\u200c\u200cb',
    'x'.repeat(41),
  ])('is not named %p', (BRAND_NAME) => {
    expect(() => open({ BRAND_NAME })).toThrow('BRAND_NAME must be a name of at most 40 characters');
  });

  test.each(['کتاب\u200cخانه', 'क्\u200dष', '👩\u200d💻 Tea', 'Teehaus Müller & Söhne'])(
    'may be named %p',
    (BRAND_NAME) => {
      expect(open({ BRAND_NAME })('any').name).toBe(BRAND_NAME);
    },
  );

  test.each([
    ...['tea', 'a@b@c', 'Help <a@b.example>', 'a b@c.example', 'a@b.example,c@d.example'],
    ...['a?cc=b@c.example', 'hilfe@bücher.example', 'hänsel@b.example', 'a%0a@b.example'],
  ])('has no support at %p', (SUPPORT_ADDRESS) => {
    expect(() => open({ SUPPORT_ADDRESS })).toThrow('SUPPORT_ADDRESS must be a mail address');
  });
});

describe('BRAND_COLOR', () => {
  test('that cannot be read on white is refused, with a shade that can', () => {
    expect(() => open({ BRAND_COLOR: '#ffcc00' })).toThrow(
      /BRAND_COLOR has a contrast of 1\.\d:1 in the light theme, which is under 4\.5:1: #[0-9a-f]{6} can be read there/,
    );
    const shade = /#[0-9a-f]{6}/.exec(messageOf(() => open({ BRAND_COLOR: '#ffcc00' })))?.[0] ?? '';
    expect(open({ BRAND_COLOR: shade })('default').color?.light).toBe(shade);
  });

  test('for the dark theme is refused there, with a shade that can be read', () => {
    const words = messageOf(() => open({ BRAND_COLOR: '#3146c8,#3146c8' }));
    expect(words).toContain('in the dark theme');
    const shade = /#[0-9a-f]{6}/.exec(words)?.[0] ?? '';
    expect(open({ BRAND_COLOR: `#3146c8, ${shade}` })('default').color).toEqual({ light: '#3146c8', dark: shade });
  });

  test('alone gets a lighter shade for the dark', () => {
    expect(open({ BRAND_COLOR: '#000' })('default').color).toEqual({ light: '#000000', dark: expect.any(String) });
  });

  test.each(['red', '#12345', '3146c8', '#3146c8,', '#3146c8,#fff,#fff', 'rgb(0,0,0)'])('is not %p', (BRAND_COLOR) => {
    expect(() => open({ BRAND_COLOR })).toThrow('BRAND_COLOR must be one or two colours such as #3146c8');
  });
});

describe('BRANDS', () => {
  test('gives an app its own brand; what it leaves out is the operator’s', () => {
    const brandOf = openApps(
      { tea: { name: 'Tea House', logo: 'logos/tea.png', color: ['#0a6b48', '#57d9a3'] }, books: { logo: null } },
      { 'logos/tea.png': PNG },
    );
    expect(brandOf('tea')).toMatchObject({ name: 'Tea House', color: { dark: '#57d9a3' }, isOwn: true });
    expect(brandOf('tea').logo?.type).toBe('image/png');
    expect(brandOf('books')).toMatchObject({ name: 'vault.example.com', logo: undefined });
    expect(brandOf('default').isOwn).toBe(false);
  });

  test.each([
    [[], 'BRANDS names a file that is not a JSON object'],
    ['{ "tea": {}, }', 'BRANDS names a file that is not JSON: look for a comma or a quotation mark'],
    [{ pie: {} }, 'BRANDS names an app that is not in APPS'],
    [{ tea: { colour: '#000' } }, 'BRANDS is wrong for the app tea: only name, logo, color and support are known'],
    [{ tea: { name: '<b>' } }, 'BRANDS is wrong for the app tea: name must have 1 to 40 plain characters'],
    [
      { tea: { color: '#ffcc00' } },
      'BRANDS is wrong for the app tea: color has a contrast of 1.4:1 in the light theme',
    ],
    [{ tea: { support: 'tea' } }, 'BRANDS is wrong for the app tea: support must be a mail address'],
    [{ tea: { logo: 'none.svg' } }, 'BRANDS names a file that does not exist'],
    [{ tea: { logo: 'logos' } }, 'BRANDS names a file that cannot be read: it is not a file'],
  ])('%j is refused', (entries, problem) => {
    expect(() => openApps(entries)).toThrow(problem);
  });
});

describe('a logo', () => {
  const withLogo = (content: string | Uint8Array) => open({ BRAND_LOGO: '@/logo' }, { logo: content });

  test('may be an SVG with shapes, styles and pictures of its own', () => {
    const inside =
      '<style>.a{fill:url( #b )}</style><use xlink:href="#a"/>\n<g\n id="b"><path class=\'a\' d="M0 0h9"/></g ><text>a &amp; b</text>';
    const names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
    const svg = `<?xml version="1.0"?>\n<!-- made by hand -->\n<svg ${names}>${inside}</svg>\n`;
    expect(withLogo(svg)('default').logo?.type).toBe('image/svg+xml');
  });

  test.each([
    ['<script>alert(1)</script>', 'scripts'],
    ['<svg:SCRIPT/>', 'scripts'],
    ['<path onload="x()"/>', 'event handlers'],
    ['<foreignObject/>', 'foreign objects'],
    ['<image href="https://evil.example/a.png"/>', 'links to elsewhere'],
    ["<a xlink:href='javascript:alert(1)'/>", 'links to elsewhere'],
    ['<style>@import "https://evil.example"</style>', 'styles from elsewhere'],
    ['<path style="fill:url(https://evil.example/a)"/>', 'styles from elsewhere'],
    ['<path style="fill:url( https://evil.example/a )"/>', 'styles from elsewhere'],
  ])('with %s is refused', (inside, what) => {
    expect(() => withLogo(`<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`)).toThrow(
      `BRAND_LOGO must not contain ${what}`,
    );
  });

  test.each([
    ['a document type', '<!DOCTYPE svg [<!ENTITY a "b">]><svg/>', 'is neither SVG nor PNG'],
    ['HTML', '<html><svg></svg></html>', 'is neither SVG nor PNG'],
    ['nothing', '', 'is neither SVG nor PNG'],
    ['what stands before its declaration', `\n<?xml version="1.0"?>${SVG}`, 'is neither SVG nor PNG'],
    ['without its namespace', '<svg viewBox="0 0 9 9"/>', 'has no xmlns="http://www.w3.org/2000/svg" in its first tag'],
    ...[
      SVG.replace('</svg>', ''),
      SVG.replace('<path', '<g><path'),
      SVG.replace('d=', 'd = M0 e='),
      SVG.replace('<path', '<path id="a" id="b"'),
      SVG.replace('<path', '<path xlink:href="#a"'),
      SVG.replace('<path', 'a & b<path'),
      `${SVG}${SVG}`,
      `${SVG}more`,
    ].map((text) => [`not well formed: ${text}`, text, 'is not well-formed XML'] as const),
    [
      'a large file',
      `<svg>${' '.repeat(33_000)}</svg>`,
      'is a file that cannot be read: it is larger than 32768 bytes',
    ],
    ['half a PNG', PNG.slice(0, 20), 'is a PNG that breaks off'],
    ['a huge PNG', PNG.with(18, 0xff), 'must be 1 to 2048 pixels wide and high'],
  ])('that is %s is refused', (_, content, problem) => {
    expect(() => withLogo(content)).toThrow(`BRAND_LOGO ${problem}`);
  });

  test('that is not there is refused', () => {
    expect(() => open({ BRAND_LOGO: '@/logo' })).toThrow('BRAND_LOGO is a file that does not exist');
  });

  test('needs a host that reads files', () => {
    const config = readConfig({ ...VARS, ...OFF, BRAND_LOGO: 'logo.svg' });
    expect(() => createBrands(config, undefined)).toThrow('BRAND_LOGO needs a host that reads files');
  });
});

function messageOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was thrown');
}
