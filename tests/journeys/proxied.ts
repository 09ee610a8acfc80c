import { describe, expect, test } from 'bun:test';
import { request } from 'node:http';

/** Headers as they are sent; a list is sent as so many headers. */
type Sent = Readonly<Record<string, string | string[]>>;

/** The tests that every proxy passes: limits count by true client, whatever headers the client sends. */
export function addProxyTests(ports: () => { readonly proxy: number; readonly vault: number }): void {
  describe('limits', () => {
    const statuses = async (times: number, from: string, headers: (n: number) => Sent) => {
      const found: number[] = [];
      for (let n = 0; n < times; n++) found.push(await sendCode({ port: ports().proxy, from, headers: headers(n) }));
      return found;
    };
    const THREE = [200, 200, 200, 429, 429];

    test('each true client has its own limit', async () => {
      expect(await statuses(5, '127.0.0.2', () => ({}))).toEqual(THREE);
      expect(await statuses(5, '127.0.0.3', () => ({}))).toEqual(THREE);
    });

    const ip = (n: number) => `203.0.113.${n}`;
    const ipv6 = (n: number) => `2001:db8:0:${n}::1`;
    test.each<[string, string, (n: number) => Sent]>([
      ['Edge-Connecting-IP', '127.0.0.11', (n) => ({ 'Edge-Connecting-IP': ip(n) })],
      ['Edge-Connecting-IP in another spelling', '127.0.0.12', (n) => ({ 'EDGE-connecting-ip': ip(n) })],
      ['Edge_Connecting_IP', '127.0.0.13', (n) => ({ Edge_Connecting_IP: ip(n) })],
      ['Edge-Connecting-IP twice', '127.0.0.14', (n) => ({ 'Edge-Connecting-IP': [ip(n), ip(n + 1)] })],
      ['X-Forwarded-For', '127.0.0.15', (n) => ({ 'X-Forwarded-For': `${ip(n)}, 10.0.0.1` })],
      ['X-Real-IP and Forwarded', '127.0.0.16', (n) => ({ 'X-Real-IP': ip(n), Forwarded: `for=${ip(n)}` })],
      ['rotating IPv6 addresses', '127.0.0.17', (n) => ({ 'Edge-Connecting-IP': ipv6(n), 'X-Forwarded-For': ipv6(n) })],
    ])('a spoofed header gains nothing: %s', async (_, from, headers) => {
      expect(await statuses(5, from, headers)).toEqual(THREE);
    });

    test('past the proxy, an address that is no trusted one cannot name another client either', async () => {
      const found: number[] = [];
      for (let n = 0; n < 5; n++) {
        const headers = { 'Edge-Connecting-IP': ip(n) };
        found.push(await sendCode({ port: ports().vault, from: '127.0.0.21', headers }));
      }
      expect(found).toEqual(THREE);
    });
  });
}

let sends = 0;

/**
 * Asks for a code from a client's own address, for another identifier each time, so that only the IP's limit counts.
 */
export function sendCode({
  port,
  from,
  headers = {},
}: {
  port: number;
  from: string;
  headers?: Sent;
}): Promise<number> {
  const text = JSON.stringify({ identifier: `user${sends++}@example.com`, channel: 'email' });
  const length = { 'Content-Type': 'application/json', 'Content-Length': String(text.length) };
  // Node's client, since Bun's `fetch` cannot choose the address it comes from.
  const options = {
    host: '127.0.0.1',
    port,
    localAddress: from,
    path: '/api/verify/send',
    method: 'POST',
    agent: false,
  } as const;
  return new Promise((resolve, reject) => {
    request({ ...options, headers: { ...length, ...headers } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end(text);
  });
}
