// A name server over UDP and TCP that answers questions for TXT (RFC 1035).
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** TXT records by name; a name without an entry does not exist. */
export type Zone = Record<string, readonly string[]>;

/** A name server on loopback; `zone` may change while it runs. */
export interface NameServer {
  /** `address:port`. */
  readonly address: string;
  readonly zone: Zone;
  /** The most bytes of an answer by UDP; a longer one is cut and asked for again by TCP. */
  udpBytesMax: number;
  stop(): void;
}

/** Starts a name server that knows these records. */
export async function startNameServer(zone: Zone = {}): Promise<NameServer> {
  const streams = createServer((stream) => {
    stream.on('data', (chunk) => {
      const answer = answerTo(Buffer.from(chunk).subarray(2), zone);
      stream.end(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 0xff]), answer]));
    });
  });
  const socket = await listenOnBoth(streams);
  const { port } = socket.address();
  const server = { address: `127.0.0.1:${port}`, zone, udpBytesMax: 1_232, stop };
  socket.on('message', (question, from) => {
    const answer = answerTo(question, zone);
    const cut = Buffer.from(answer.subarray(0, endOfQuestion(question)));
    cut.writeUInt16BE(0x8380, 2);
    cut.writeUInt16BE(0, 6);
    socket.send(answer.length > server.udpBytesMax ? cut : answer, from.port, from.address);
  });
  function stop() {
    socket.close();
    streams.close();
  }
  return server;
}

/** Listens on one port by TCP and UDP. A port that is free for one may be taken for the other: then on the next. */
async function listenOnBoth(streams: Server): Promise<Socket> {
  for (;;) {
    await once(streams.listen(0, '127.0.0.1'), 'listening');
    const socket = createSocket('udp4');
    try {
      await once(socket.bind((streams.address() as AddressInfo).port, '127.0.0.1'), 'listening');
      return socket;
    } catch (error) {
      socket.close();
      await once(streams.close(), 'close');
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

function endOfQuestion(question: Buffer): number {
  let at = 12;
  while ((question[at] ?? 0) > 0) at += 1 + (question[at] ?? 0);
  return at + 5;
}

function answerTo(question: Buffer, zone: Zone): Buffer {
  const labels: string[] = [];
  for (let at = 12; (question[at] ?? 0) > 0; at += 1 + (question[at] ?? 0))
    labels.push(question.toString('latin1', at + 1, at + 1 + (question[at] ?? 0)));
  const records = zone[labels.join('.').toLowerCase()];
  const head = Buffer.alloc(12);
  question.copy(head, 0, 0, 2);
  head.writeUInt16BE(records === undefined ? 0x8183 : 0x8180, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records?.length ?? 0, 6);
  return Buffer.concat([head, question.subarray(12, endOfQuestion(question)), ...(records ?? []).map(recordOf)]);
}

/** A record of the name in the question; its text is in strings of at most 200 bytes. */
function recordOf(text: string): Buffer {
  const parts = text.match(/.{1,200}/gs) ?? [''];
  const data = Buffer.concat(parts.map((part) => Buffer.concat([Buffer.of(part.length), Buffer.from(part)])));
  const head = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, data.length >> 8, data.length & 0xff]);
  return Buffer.concat([head, data]);
}
