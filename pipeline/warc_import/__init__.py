"""`plumb import`: pages of WARC files from disks, web servers and object stores."""
