/** The text of a body; undefined where it is longer than so many bytes, of which no more is read then. */
export async function cappedText(body: Response['body'] | undefined, bytesMax: number): Promise<string | undefined> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    bytes += part.value.length;
    if (bytes > bytesMax) {
      await reader?.cancel();
      return undefined;
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text;
}
