import { describe, expect, test } from 'bun:test';
import { isLoopback } from '../../../assets/authorize/fault.ts';
import { channelsFor, parseLink } from '../../../assets/authorize/link.ts';
import { masked } from '../../../assets/authorize/screens.ts';

const LINK = { client_id: 'tea', redirect_uri: 'https://tea.example/back?x=1', scope: 'openid email' };
const search = (more: Record<string, string> = {}) => `?${new URLSearchParams({ ...LINK, ...more })}`;

describe('the request of an app', () => {
  test('is read as it stands: what the passkey signs is the query', () => {
    const text = `${search({ ui_locales: 'xx de', prompt: 'login create', login_hint: 'a@b.example' })}&state=a%20b+c`;
    expect(parseLink(text)).toEqual({
      query: text.slice(1),
      appId: 'tea',
      backTo: undefined,
      host: 'tea.example',
      scopes: ['openid', 'email'],
      resource: undefined,
      isSignUp: true,
      languages: ['xx', 'de'],
      loginHint: 'a@b.example',
      invite: undefined,
    });
  });

  test.each([
    ['http://127.0.0.1:33418/callback', '127.0.0.1:33418'],
    ['https://agent.example/back', undefined],
    ['https://elsewhere.example/back', 'elsewhere.example'],
  ])('a client with a document is named by its host, and goes back to %s', (redirect_uri, backTo) => {
    const client_id = 'https://agent.example/oauth/client.json';
    const resource = 'https://mcp.tea.example/mcp';
    expect(parseLink(search({ client_id, redirect_uri, resource }), 'tea')).toMatchObject({
      ...{ appId: 'tea', host: 'agent.example', backTo, resource },
    });
  });

  test.each([
    ['without an app', '?redirect_uri=https%3A%2F%2Ftea.example%2Fback'],
    ['without a URI', '?client_id=tea'],
    ['with a URI that is none', search({ redirect_uri: '/back' })],
  ])('is none %s', (_, text) => expect(parseLink(text)).toBeUndefined());
});

test('what is this device: no host that only looks so', () => {
  for (const host of ['localhost', 'a.localhost:1', '127.0.0.1', '127.8.8.8:33418', '[::1]:80'])
    expect([host, isLoopback(host)]).toEqual([host, true]);
  for (const host of [
    '127.evil.example',
    'localhost.evil.example',
    '[::1].evil.example',
    '128.0.0.1',
    'evil-localhost',
  ])
    expect([host, isLoopback(host)]).toEqual([host, false]);
});

test.each([
  ['openid email', ['email']],
  ['openid phone', ['sms']],
  ['openid email phone', ['email', 'sms']],
  ['openid', ['email', 'sms']],
])('a new person for %s registers by %p', (scope, channels) => {
  expect(channelsFor({ scopes: scope.split(' ') }, ['email', 'sms'])).toEqual(channels as 'email'[]);
});

test('where the vault has no channel that the app asks for, a new person registers by another one', () => {
  expect(channelsFor({ scopes: ['openid', 'phone'] }, ['email'])).toEqual(['email']);
});

test.each([
  ['email', 'alice@example.com', 'al…@example.com'],
  ['email', 'al@example.com', 'a…@example.com'],
  ['email', 'a@example.com', '…@example.com'],
  ['sms', '+14155550132', '+14…32'],
] as const)('an address is masked: %s %s is %s', (channel, identifier, shown) => {
  expect(masked({ channel, identifier })).toBe(shown);
});
