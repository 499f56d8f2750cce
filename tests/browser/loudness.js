() => {
  if (!__vivavoce.player.analyser) return 0;
  const samples = new Float32Array(2048);
  __vivavoce.player.analyser.getFloatTimeDomainData(samples);
  return Math.max(...samples.map(Math.abs));
}
