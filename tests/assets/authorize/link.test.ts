import { describe, expect, test } from 'bun:test';
import { parseLink, returnUrl } from '../../../assets/authorize/link.ts';

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const LINK = {
  client_id: 'tea',
  redirect_uri: 'https://tea.example/back',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
};
const search = (more: Record<string, string> = {}, raw = '') => `?${new URLSearchParams({ ...LINK, ...more })}${raw}`;

describe('the link of an app', () => {
  test('is complete with its challenge', () => {
    expect(parseLink(search({ state: 'x', mode: 'popup' }))).toMatchObject({
      clientId: 'tea',
      redirectUri: LINK.redirect_uri,
      codeChallenge: CHALLENGE,
      state: 'x',
      isPopup: true,
      isComplete: true,
    });
  });

  test.each([
    ['the method plain', { code_challenge_method: 'plain' }],
    ['no method', { code_challenge_method: '' }],
    ['a short challenge', { code_challenge: 'abc' }],
  ])('is not complete with %s, but says where to go back to', (_, more) => {
    expect(parseLink(search(more))).toMatchObject({ isComplete: false, redirectUri: LINK.redirect_uri });
  });

  test.each([
    ['without an app', '?redirect_uri=https%3A%2F%2Ftea.example%2Fback'],
    ['without a URI', '?client_id=tea'],
    ['with a URI that is none', search({ redirect_uri: '/back' })],
    ['with two URIs', search({}, '&redirect_uri=https%3A%2F%2Fevil.example%2F')],
    ['with two states', search({ state: 'a' }, '&state=b')],
    ['with two apps', search({}, '&client_id=books')],
  ])('is none %s', (_, text) => expect(parseLink(text)).toBeUndefined());
});

describe('the way back', () => {
  const back = (more: Record<string, string>, raw = '') => {
    const link = parseLink(search(more, raw));
    if (!link) throw new Error('no link');
    return returnUrl(link, { code: 'c-_0' }, 'https://vault.example.com');
  };
  const ISS = 'iss=https%3A%2F%2Fvault.example.com';

  test('has code, state and issuer behind the text of the URI', () => {
    expect(back({ state: 's' })).toBe(`https://tea.example/back?code=c-_0&state=s&${ISS}`);
    expect(back({})).toBe(`https://tea.example/back?code=c-_0&${ISS}`);
  });

  test.each(['https://tea.example/back?a=%20b', 'https://tea.example/back?a=+%2b&'])(
    'a query stays as it is: %s',
    (uri) => {
      expect(back({ redirect_uri: uri })).toBe(`${uri}${uri.endsWith('&') ? '' : '&'}code=c-_0&${ISS}`);
    },
  );

  test.each([
    ['a plus as it came', 'a+b/c==', 'a+b/c=='],
    ['an encoded plus', 'a%2Bb', 'a%2Bb'],
    ['text that looks like parameters', 'x%26code%3Devil%23', 'x%26code%3Devil%23'],
    ['a semicolon, at which some servers split', 'a;code=evil', 'a%3Bcode=evil'],
    ['nothing', '', ''],
  ])('returns the state: %s', (_, given, returned) => {
    const url = back({}, `&state=${given}`);
    expect(url).toBe(`https://tea.example/back?code=c-_0&state=${returned}&${ISS}`);
    expect(new URL(url).searchParams.getAll('code')).toEqual(['c-_0']);
  });
});
