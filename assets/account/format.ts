// Texts for people, and the names of keys.
import { type Hex, toHex } from '../../client/wallet/bytes.ts';
import { spoken, word } from '../words/words.ts';

export { short, writeAddress } from '../wallet/view.ts';

const MOMENT = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
} as const;

/** A day. */
export function day(iso: string): string {
  return new Date(iso).toLocaleDateString(spoken(), { dateStyle: 'medium' });
}

/** A moment with its zone. */
export function moment(iso: string): string {
  return new Date(iso).toLocaleString(spoken(), MOMENT);
}

/** Time left: `2 days 3:04:05`, `9:59`. */
export function left(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const days = Math.floor(seconds / 86_400);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
  const hours = `${Math.floor((seconds % 86_400) / 3600)}:${two((seconds % 3600) / 60)}:${two(seconds % 60)}`;
  return days === 0 ? hours : `${inDays(days)} ${hours}`;
}

/** Days in words. */
export function daysOf(seconds: number): string {
  return inDays(Math.round(seconds / 86_400));
}

function inDays(count: number): string {
  return new Intl.NumberFormat(spoken(), { style: 'unit', unit: 'day', unitDisplay: 'long' }).format(count);
}

/** The most bytes of a key's name. */
export const NAME_BYTES_MAX = 31;

/** Whether a name fits into a key's label. */
export function isName(name: string): boolean {
  const bytes = new TextEncoder().encode(name).length;
  return bytes > 0 && bytes <= NAME_BYTES_MAX;
}

/** A key's label: its name, and behind it whether the passkey is synced (2) or lives on one device (1). */
export function labelOf(name: string, synced: boolean | null): Hex {
  const label = new Uint8Array(32);
  label.set(new TextEncoder().encode(name).subarray(0, NAME_BYTES_MAX));
  label[NAME_BYTES_MAX] = synced === null ? 0 : synced ? 2 : 1;
  return toHex(label);
}

/** A name for a passkey that is made here, such as `Linux computer`. It is kept. */
export function nameHere(): string {
  const { userAgentData } = navigator as { userAgentData?: { platform?: string } };
  const platform =
    userAgentData?.platform || /\b(Android|iPhone|iPad|Mac|Windows|Linux)/.exec(navigator.userAgent)?.[1];
  if (!platform) return word('name.new', {}, NOTHING);
  if (platform === 'Android') return word('name.device', { platform }, NOTHING);
  return /^(?:Windows|Linux)/.test(platform)
    ? word('name.computer', { platform }, NOTHING)
    : platform.replace(/^mac.*/i, 'Mac');
}

/** Around values in names, which the network and passkey managers keep: no marks of direction. */
export const NOTHING = ['', ''] as const;

/** A picture of an address, by which two addresses can be told apart at a glance. */
export function identicon(svg: SVGElement, address: string): void {
  const digits = address.slice(2).toLowerCase();
  const hue = Number.parseInt(digits.slice(36), 16) % 360;
  const cells = Array.from({ length: 15 }, (_, i) => Number.parseInt(digits[i] ?? '0', 16) % 2 === 0);
  const path = cells.flatMap((isOn, i) => {
    const [column, row] = [i % 3, Math.floor(i / 3)];
    return isOn ? [...new Set([column, 4 - column])].map((x) => `M${x} ${row}h1v1h-1z`) : [];
  });
  const shape = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  shape.setAttribute('d', path.join(''));
  shape.setAttribute('fill', `hsl(${hue} 60% 50%)`);
  svg.replaceChildren(shape);
}
