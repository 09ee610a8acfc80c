import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createRedact, redactUrls } from '../../../lib/base/redact.ts';
import { always } from '../../support/property.ts';

const KEY = 'pim_3hT9vQ2mZk7WcXyR';

describe('an endpoint is struck out of what it answers', () => {
  test.each([
    ['a key in the path', `https://api.example.com/v2/84532/rpc/${KEY}`],
    ['a key in the query', `https://api.example.com/v2/84532/rpc?apikey=${KEY}`],
    ['a short key whose name says so', 'https://api.example.com/rpc?api_key=s3cret'],
    ['a key in percent-encoding', `https://api.example.com/rpc/${encodeURIComponent('kéy/of:the 0perator')}`],
    ['a key of words in the query', 'https://api.example.com/rpc?token=correct-horse-battery'],
  ])('%s', (_, url) => {
    const secret = decodeURIComponent(/(?:\/|=)([^/=]*)$/.exec(url)?.[1] ?? '');
    const answer = {
      message: `no such project ${secret} at ${url}`,
      list: [secret, { deep: `x${secret.toUpperCase()}y`, host: 'API.example.com' }],
      [secret]: encodeURIComponent(secret),
    };
    const text = JSON.stringify(createRedact(url)(answer)).toLowerCase();
    for (const part of [secret, encodeURIComponent(secret), 'api.example.com']) {
      expect(text).not.toContain(part.toLowerCase());
    }
  });

  test('also where the upstream wrote it with escapes', () => {
    const escaped = JSON.parse(`"${[...KEY].map((char) => `\\u00${char.charCodeAt(0).toString(16)}`).join('')}"`);
    expect(createRedact(`https://example.com/${KEY}`)({ a: escaped })).toEqual({ a: '…' });
  });

  test('words and numbers of its path stay, since answers hold them for a reason of their own', () => {
    const redact = createRedact('http://bundler:4337/paymaster/base-sepolia-bundler/11155111?policy=everything');
    const answer = { paymaster: '0x11155111', note: 'paymaster everything base-sepolia-bundler', bundler: 1 };
    expect(redact(answer)).toBe(answer);
    expect(redact({ note: 'see bundler:4337' })).toEqual({ note: 'see …' });
  });

  test('any JSON stays JSON, and what holds no secret stays as it is', () => {
    const redact = createRedact(`https://api.example.com/${KEY}`);
    always(fc.jsonValue(), (value) => {
      const plain = JSON.parse(JSON.stringify(value));
      expect(redact(plain)).toEqual(plain);
    });
    always(fc.tuple(fc.string(), fc.string()), ([before, after]) => {
      expect(JSON.stringify(redact({ text: before + KEY + after, [before + KEY]: 0 }))).not.toContain(KEY);
    });
  });
});

test('every URL is struck out, and nothing around it', () => {
  const words =
    'RPC Request failed.\n\nURL: http://10.0.0.5:8545/key?x="1"\nDetails: "wss://node.example/ws" <https://a.b>';
  expect(redactUrls({ message: words })).toEqual({ message: 'RPC Request failed.\n\nURL: …"1"\nDetails: "…" <…>' });
  const plain = { message: 'AA23 reverted // 0x08c379a0' };
  expect(redactUrls(plain)).toBe(plain);
});
