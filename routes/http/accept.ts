/** Content negotiation (RFC 9110 section 12.5.1). */

interface Range {
  readonly type: string;
  readonly weight: number;
  readonly place: number;
}

/**
 * Which of the media types an `Accept` header prefers: by weight, then by its place in the header; the first one
 * without a header, undefined if it takes none. An offered type may have a `profile`, which then must be named.
 */
export function chooseMedia<Type extends string>(accept: string | null, offered: readonly Type[]): Type | undefined {
  if (accept === null || accept.trim() === '') return offered[0];
  const ranges = rangesOf(accept);
  const wanted = offered.flatMap((type) => {
    const range = rangeFor(type, ranges);
    return range && range.weight > 0 ? [{ type, ...range, offer: type }] : [];
  });
  wanted.sort((one, other) => other.weight - one.weight || one.place - other.place);
  return wanted[0]?.offer;
}

/** The most specific range that a type is in: its weight counts for it. */
function rangeFor(type: string, ranges: readonly Range[]): Pick<Range, 'weight' | 'place'> | undefined {
  // A wildcard says nothing of profiles.
  const wildcards = type.includes(';') ? [] : [`${type.split('/')[0]}/*`, '*/*'];
  for (const name of [type, ...wildcards]) {
    const found = ranges.find((range) => range.type === name);
    if (found) return found;
  }
  return undefined;
}

/** At most 50, which is more than any client sends; commas and semicolons in quotes separate nothing. */
function rangesOf(accept: string): readonly Range[] {
  const parts = accept.match(/(?:"[^"]*"|[^,"])+/g) ?? [];
  return parts.slice(0, RANGES_MAX).map((part, place) => {
    const [type = '', ...parameters] = (part.match(/(?:"[^"]*"|[^;"])+/g) ?? []).map((one) => one.trim());
    const parameterOf = (name: string) =>
      parameters.find((one) => one.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1);
    const profile = parameterOf('profile');
    const weight = Number(parameterOf('q') ?? 1);
    const named = profile === undefined ? '' : `;profile="${profile.replace(/^"|"$/g, '')}"`;
    return { type: type.toLowerCase() + named, weight: weight >= 0 && weight <= 1 ? weight : 0, place };
  });
}

const RANGES_MAX = 50;
